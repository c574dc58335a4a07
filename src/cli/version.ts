import type { Command } from "./command.ts"

export const versionCommand: Command = {
  name: "version",
  about: "Print the version.",
  flags: { licenses: { about: "Print instead the licences of everything inside." } },
  async run({ given, json, terminal, program }) {
    const told = given.licenses ? { licenses: (await program.licenses()).trimEnd() } : { version: program.version }
    if (json) terminal.json(told)
    else terminal.line(Object.values(told)[0]!)
  },
}
