import type { Command } from "./command.ts"

export const exportKey: Command = {
  name: "secrets export-key",
  about: "Print the key that seals secrets, which no backup holds. Keep it where the backups are not.",
  async run({ json, terminal, program, settings }) {
    const key = program.exportKey(settings)
    if (json) terminal.json({ secret_key: key })
    else terminal.line(key)
  },
}
