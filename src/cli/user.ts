import type { Command } from "./command.ts"
import { passwordFrom } from "./setup.ts"
import { instant } from "./values.ts"

const listAll: Command = {
  name: "user list",
  about: "List those who can sign in.",
  async run({ json, terminal, program, settings }) {
    const users = await program.withOperations(settings, terminal.progress, (call) => call("user.list", {}))
    if (json) return terminal.json(users)
    const rows = users.map((user) => [
      user.id,
      user.email,
      user.name,
      user.status,
      user.is_instance_admin ? "admin" : "",
      instant(user.created_at),
    ])
    terminal.table(["id", "email", "name", "status", "instance", "created"], rows)
  },
}

const passwd: Command = {
  name: "user passwd",
  about: "Give a user a new password.",
  takes: ["email"],
  flags: { "password-stdin": { about: "Read the password from the standard input; it is taken from nowhere else.", required: true } },
  async run({ given, json, terminal, program, settings }) {
    const input = { email: given.email!, password: await passwordFrom(terminal) }
    const user = await program.withOperations(settings, terminal.progress, (call) => call("user.passwd", input))
    if (json) terminal.json(user)
    else terminal.line(`${user.email} has a new password.`)
  },
}

export const userCommands: readonly Command[] = [listAll, passwd]
