import { instant, wholeNumber } from "./arguments.ts"
import type { Call, Command } from "./command.ts"
import { passwordFrom } from "./terminal.ts"

export const setup: Command = {
  name: "setup",
  about: "Create the first user, an instance admin, and the organization this user owns.",
  flags: {
    email: { value: "ADDRESS", about: "Email address the user signs in with.", required: true },
    name: { value: "NAME", about: "Name of the user.", required: true },
    organization: { value: "NAME", about: "Name of the first organization.", required: true },
    "password-stdin": { about: "Read the password from standard input, the only way to pass it.", required: true },
  },
  async run({ given, json, terminal, program, settings }) {
    const { email, name, organization } = given
    const input = { email: email!, name: name!, organization: organization!, password: await passwordFrom(terminal) }
    const made = await program.withOperations(settings, terminal.progress, (call) => call("setup", input), { mayCreateStores: true })
    if (json) terminal.json(made)
    else terminal.line(`${made.user.email} is an instance admin and the owner of ${made.organization}.`)
  },
}

const createOrganization: Command = {
  name: "organization create",
  about: "Create an organization, the owner of sites, members and API keys.",
  flags: {
    name: { value: "NAME", about: "Display name.", required: true },
    owner: { value: "ADDRESS", about: "Email address of the user who will own it.", required: true },
  },
  async run({ given, json, terminal, program, settings }) {
    const input = { name: given.name!, owner: given.owner! }
    const made = await program.withOperations(settings, terminal.progress, (call) => call("organization.create", input))
    if (json) terminal.json(made)
    else terminal.line(`Organization ${made.id}, ${made.name}, was created. Owner: ${input.owner}.`)
  },
}

const listOrganizations: Command = {
  name: "organization list",
  about: "List the organizations.",
  async run({ json, terminal, program, settings }) {
    const organizations = await program.withOperations(settings, terminal.progress, (call) => call("organization.list", {}))
    if (json) return terminal.json(organizations)
    terminal.table(
      ["id", "name", "created"],
      organizations.map(({ id, name, created_at }) => [id, name, instant(created_at)]),
    )
  },
}

export const organizationCommands: readonly Command[] = [createOrganization, listOrganizations]

const listAll: Command = {
  name: "user list",
  about: "List all users.",
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
  about: "Create a user. Without a password, a link to choose one is emailed or, without a mail server, printed.",
  flags: {
    email: { value: "ADDRESS", about: "Email address the user signs in with.", required: true },
    name: { value: "NAME", about: "Name of the user.", required: true },
    organization: { value: "ID", about: "Organization to join. Needs --role." },
    role: { value: "ROLE", about: "Role in the organization: owner, admin, editor or viewer." },
    admin: { about: "Make the user an instance admin." },
    "password-stdin": { about: "Read the password from standard input, the only way to pass it." },
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
    terminal.line(`Created user ${made.user.id}, ${made.user.email}.`)
    if (made.link !== undefined) terminal.line(`Link to choose a password, valid for 7 days:\n${made.link}`)
  },
}

const passwd: Command = {
  name: "user passwd",
  about: "Set a new password for a user and end all of their sessions.",
  takes: ["email"],
  flags: { "password-stdin": { about: "Read the password from standard input, the only way to pass it.", required: true } },
  async run({ given, json, terminal, program, settings }) {
    const input = { email: given.email!, password: await passwordFrom(terminal) }
    const user = await program.withOperations(settings, terminal.progress, (call) => call("user.passwd", input))
    if (json) terminal.json(user)
    else terminal.line(`${user.email} has a new password.`)
  },
}

type UserAction = "user.disable" | "user.enable" | "user.reset-mfa" | "user.grant-admin" | "user.revoke-admin"

/** Creates a command that takes the email address of a user and runs one operation on that user. */
const userCommand = (action: UserAction, about: string, done: (email: string) => string): Command => ({
  name: action.replace(".", " "),
  about,
  takes: ["email"],
  async run({ given, json, terminal, program, settings }: Call) {
    const user = await program.withOperations(settings, terminal.progress, (call) => call(action, { email: given.email! }))
    if (json) terminal.json(user)
    else terminal.line(done(user.email))
  },
})

export const userCommands: readonly Command[] = [
  listAll,
  create,
  passwd,
  userCommand(
    "user.disable",
    "Block a user from signing in. Ends sessions and revokes personal keys; memberships are kept.",
    (email) => `${email} is disabled.`,
  ),
  userCommand("user.enable", "Allow a disabled user to sign in again.", (email) => `${email} can sign in again.`),
  userCommand(
    "user.reset-mfa",
    "Remove all second factors of a user: authenticator app, passkeys and recovery codes.",
    (email) => `${email} no longer has a second factor.`,
  ),
  userCommand("user.grant-admin", "Make a user an instance admin.", (email) => `${email} is now an instance admin.`),
  userCommand("user.revoke-admin", "Revoke instance admin rights.", (email) => `${email} is no longer an instance admin.`),
]
