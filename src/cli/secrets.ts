import type { Command } from "./command.ts"

const exportKey: Command = {
  name: "secrets export-key",
  about: "Print the key that seals secrets, which no backup holds. Keep it where the backups are not.",
  async run({ json, terminal, program, settings }) {
    program.requireKey(settings)
    const { secret_key } = await program.withOperations(settings, terminal.progress, (call) => call("secrets.export-key", {}))
    if (json) terminal.json({ secret_key })
    else terminal.line(secret_key)
  },
}

const rotate: Command = {
  name: "secrets rotate",
  about: "Seal all secrets with a new key. People stay signed in; backups made before need the key before to be read.",
  async run({ json, terminal, program, settings }) {
    program.requireKey(settings)
    const done = await program.withOperations(settings, terminal.progress, (call) => call("secrets.rotate", {}))
    if (json) return terminal.json(done)
    terminal.line(`${done.sealed} values are sealed with the new key.`)
    if (done.unreadable > 0) terminal.line(`${done.unreadable} values were sealed with a key that is lost, and stay unreadable.`)
    if (done.previous_until !== undefined) terminal.line(`The key before stays in secret.key until ${done.previous_until}.`)
    terminal.line("Keep a copy of the new key where the backups are not: footfall secrets export-key")
  },
}

export const secretsCommands: readonly Command[] = [exportKey, rotate]
