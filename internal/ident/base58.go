package ident

import "strings"

const base58Alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// base58Encode writes b as one number in base 58, most significant digit first,
// after one '1' for each leading zero byte.
func base58Encode(b []byte) string {
	zeros := 0
	for zeros < len(b) && b[zeros] == 0 {
		zeros++
	}
	digits := make([]byte, 0, len(b)*138/100+1) // least significant first
	for _, c := range b[zeros:] {
		carry := int(c)
		for i := range digits {
			carry += int(digits[i]) << 8
			digits[i] = byte(carry % 58)
			carry /= 58
		}
		for ; carry > 0; carry /= 58 {
			digits = append(digits, byte(carry%58))
		}
	}
	out := []byte(strings.Repeat("1", zeros))
	for i := len(digits) - 1; i >= 0; i-- {
		out = append(out, base58Alphabet[digits[i]])
	}
	return string(out)
}

// base58Decode reads s into exactly len(dst) bytes, and reports whether s is
// the one spelling of that many bytes.
func base58Decode(dst []byte, s string) bool {
	clear(dst)
	for i := range len(s) {
		carry := strings.IndexByte(base58Alphabet, s[i])
		if carry < 0 {
			return false
		}
		for j := len(dst) - 1; j >= 0; j-- {
			carry += int(dst[j]) * 58
			dst[j] = byte(carry)
			carry >>= 8
		}
		if carry != 0 {
			return false
		}
	}
	return base58Encode(dst) == s
}
