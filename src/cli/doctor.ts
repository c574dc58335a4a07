import { ExitFault } from "../services/exit.ts"
import type { Command } from "./command.ts"

export const doctor: Command = {
  name: "doctor",
  about: "Check the instance; exits 1 when something fails.",
  async run({ json, terminal, program, settings }) {
    const checks = await program.withOperations(settings, terminal.progress, (call) => call("doctor", {}))
    if (json) terminal.json(checks)
    else
      terminal.table(
        ["check", "status", "evidence", "remedy"],
        checks.map(({ name, status, detail, fix }) => [name, status, detail, fix]),
      )
    const failed = checks.filter(({ status }) => status === "fail")
    if (failed.length > 0)
      throw new ExitFault("failed", `${failed.length} of ${checks.length} checks failed: ${failed.map(({ name }) => name).join(", ")}`)
  },
}
