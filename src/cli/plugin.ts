import type { CommandForm } from "../services/instance/plugin-commands.ts"
import type { Command } from "./command.ts"

/** Returns the command that runs a command of a plugin in the serving process and prints the result, which is always JSON. */
export const pluginCommand = (form: CommandForm): Command => ({
  ...form,
  async run({ given, rest, terminal, program, settings }) {
    const input = { name: form.name, given, rest, folder: program.folder() }
    terminal.json(await program.withOperations(settings, terminal.progress, (call) => call("plugin.run", input)))
  },
})
