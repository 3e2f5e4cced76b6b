package capture

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"runtime"

	"writ/internal/canon"
	"writ/internal/result"
)

// IdentitySchema is the full form of an environment identity: it names the policy
// that applied, and what the policy set.
const IdentitySchema = "benchx/env-identity/0.1.0"

// machineSalt keeps the machine's own id out of documents: the same machine always
// has the same name in them, and nobody can tell which machine that is elsewhere.
const machineSalt = "writ.machine-id/v1"

// Governed identifies the machine under a policy, "name@version", with the values
// that it has set by check. Where the machine does not say enough of itself for the
// full form, the short one of Machine carries them.
func (h Host) Governed(policy string, enforced map[string]canon.Value) result.Environment {
	short := h.Machine()
	applied := canon.MustFrom(enforced)
	short.Identity = short.Identity.With("policy", canon.StringOf(policy)).With("enforced", applied)
	system := h.System()
	id, ok := h.machineID()
	model, memory, cores := system["cpu.model"], system["memory.total"], system["cpu.logical_cores"]
	for _, o := range []result.Observed{model, memory, cores} {
		ok = ok && o.Status == result.SeenOK
	}
	if !ok {
		return short
	}
	type cpu struct {
		Model canon.Value `json:"model"`
		Cores canon.Value `json:"logical_cores"`
	}
	type identity struct {
		Machine        string            `json:"machine_id"`
		CPU            cpu               `json:"cpu"`
		Memory         canon.Value       `json:"memory_bytes"`
		OS             map[string]string `json:"os"`
		Virtualization canon.Value       `json:"virtualization"`
		Policy         string            `json:"policy"`
		Enforced       canon.Value       `json:"enforced"`
	}
	metadata := map[string]string{"architecture": runtime.GOARCH}
	if host, err := h.text("/proc/sys/kernel/hostname"); err == nil && host != "" {
		metadata["hostname"] = host
	}
	return result.Environment{
		Schema: IdentitySchema,
		Identity: canon.MustFrom(identity{
			Machine: id, CPU: cpu{model.Value, cores.Value}, Memory: memory.Value, OS: map[string]string{"family": runtime.GOOS},
			Virtualization: system["virtualization"].Value, Policy: policy, Enforced: applied,
		}),
		Metadata: canon.MustFrom(metadata),
	}
}

// machineID is a keyed hash of the id that the machine was installed with.
func (h Host) machineID() (string, bool) {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if id, err := h.text(path); err == nil && len(id) >= 32 {
			m := hmac.New(sha256.New, []byte(id))
			m.Write([]byte(machineSalt))
			return "sha256:" + hex.EncodeToString(m.Sum(nil)), true
		}
	}
	return "", false
}
