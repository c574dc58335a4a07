import { ExitFault } from "../services/exit.ts"
import type { Command } from "./command.ts"

export const health: Command = {
  name: "health",
  about: "Tell whether the instance takes everything; exits 1 when it refuses something.",
  async run({ json, terminal, program, settings }) {
    const { status, reasons, warnings } = await program.withOperations(settings, terminal.progress, (call) => call("health", {}))
    if (json) terminal.json({ status, reasons, warnings })
    else {
      terminal.line(status)
      for (const { code, since } of [...reasons, ...warnings]) terminal.line(`${code}, since ${since}`)
    }
    if (status !== "ok") throw new ExitFault("failed", `the instance is degraded: ${reasons.map(({ code }) => code).join(", ")}`)
  },
}
