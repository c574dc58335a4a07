import type { Call, Command } from "./command.ts"
import { passwordFrom } from "./setup.ts"
import { instant, wholeNumber } from "./values.ts"

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

const create: Command = {
  name: "user create",
  about: "Make a user. Without a password the link to choose one is mailed, or printed.",
  flags: {
    email: { value: "ADDRESS", about: "With which the user signs in.", required: true },
    name: { value: "NAME", about: "Of the user.", required: true },
    organization: { value: "ID", about: "To belong to, with --role." },
    role: { value: "ROLE", about: "There: owner, admin, editor or viewer." },
    admin: { about: "Let the user administer the instance." },
    "password-stdin": { about: "Read the password from the standard input; it is taken from nowhere else." },
  },
  async run({ given, json, terminal, program, settings }) {
    const { email, name, organization, role, admin } = given
    const input = {
      email: email!,
      name: name!,
      is_instance_admin: admin !== undefined,
      ...(given["password-stdin"] !== undefined && { password: await passwordFrom(terminal) }),
      ...(organization !== undefined && {
        organization_id: wholeNumber(organization, "--organization", { min: 1, max: Number.MAX_SAFE_INTEGER }),
      }),
      ...(role !== undefined && { role }),
    }
    const made = await program.withOperations(settings, terminal.progress, (call) => call("user.create", input))
    if (json) return terminal.json(made)
    terminal.line(`${made.user.email} is user ${made.user.id}.`)
    if (made.link !== undefined) terminal.line(`To choose a password, within 7 days:\n${made.link}`)
  },
}

const passwd: Command = {
  name: "user passwd",
  about: "Give a user a new password. All sessions of the user end.",
  takes: ["email"],
  flags: { "password-stdin": { about: "Read the password from the standard input; it is taken from nowhere else.", required: true } },
  async run({ given, json, terminal, program, settings }) {
    const input = { email: given.email!, password: await passwordFrom(terminal) }
    const user = await program.withOperations(settings, terminal.progress, (call) => call("user.passwd", input))
    if (json) terminal.json(user)
    else terminal.line(`${user.email} has a new password.`)
  },
}

type Act = "user.disable" | "user.enable" | "user.reset-mfa" | "user.grant-admin" | "user.revoke-admin"

/** Does one thing to one user. */
const acting = (act: Act, about: string, done: (email: string) => string): Command => ({
  name: act.replace(".", " "),
  about,
  takes: ["email"],
  async run({ given, json, terminal, program, settings }: Call) {
    const user = await program.withOperations(settings, terminal.progress, (call) => call(act, { email: given.email! }))
    if (json) terminal.json(user)
    else terminal.line(done(user.email))
  },
})

export const userCommands: readonly Command[] = [
  listAll,
  create,
  passwd,
  acting("user.disable", "Let a user in no more. Sessions and personal keys end; memberships stay.", (email) => `${email} is disabled.`),
  acting("user.enable", "Let a disabled user in again.", (email) => `${email} can sign in again.`),
  acting("user.reset-mfa", "Take app, passkeys and recovery codes of a user away.", (email) => `${email} has no second factor any more.`),
  acting("user.grant-admin", "Let a user administer the instance.", (email) => `${email} is instance admin.`),
  acting("user.revoke-admin", "Let a user administer the instance no more.", (email) => `${email} is no instance admin any more.`),
]
