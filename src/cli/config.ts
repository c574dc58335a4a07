import type { Command } from "./command.ts"

export const configPrint: Command = {
  name: "config print",
  about: "Print every setting with its value and where it comes from; secrets are masked.",
  async run({ json, terminal, program, settings }) {
    const described = program.describeSettings(settings)
    if (json) return terminal.json(described)
    const shown = described.map(({ key, value, source }) => [key, Array.isArray(value) ? value.join(",") : value, source])
    terminal.table(["setting", "value", "source"], shown)
  },
}
