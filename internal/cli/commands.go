package cli

import "github.com/spf13/cobra"

// The commands by group, in the order of a change on its way.

func (a *app) startCommands() []func() *cobra.Command {
	return []func() *cobra.Command{
		a.demoCommand, a.serveCommand, a.initCommand, a.keyCommand, a.doctorCommand, a.fsckCommand, a.versionCommand,
	}
}

func (a *app) askCommands() []func() *cobra.Command {
	return []func() *cobra.Command{a.askCommand, a.statusCommand, a.laneCommand, a.journalCommand}
}

func (a *app) proposeCommands() []func() *cobra.Command {
	return []func() *cobra.Command{
		a.proposeCommand, a.reviewCommand, a.decideCommand, a.inboxCommand, a.approveCommand, a.rejectCommand, a.verifyCommand,
	}
}

func (a *app) measureCommands() []func() *cobra.Command {
	return []func() *cobra.Command{
		a.targetCommand, a.orderCommand, a.policyCommand, a.runCommand, a.compareCommand, a.gateCommand,
		a.ingestCommand, a.seriesCommand, a.historyCommand, a.headCommand,
		a.calibrateCommand, a.bisectCommand,
	}
}

func (a *app) landCommands() []func() *cobra.Command {
	return []func() *cobra.Command{a.landCommand, a.docketCommand}
}
