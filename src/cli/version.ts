import type { Command } from "./command.ts"

export const versionCommand: Command = {
  name: "version",
  about: "Print the version.",
  async run({ json, terminal, program }) {
    if (json) terminal.json({ version: program.version })
    else terminal.line(program.version)
  },
}
