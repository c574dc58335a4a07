import { ExitFault } from "../services/exit.ts"
import type { Command } from "./command.ts"
import type { Terminal } from "./terminal.ts"

export const setup: Command = {
  name: "setup",
  about: "Make the first user, who is instance admin and owns the first organization.",
  flags: {
    email: { value: "ADDRESS", about: "With which the user signs in.", required: true },
    name: { value: "NAME", about: "Of the user.", required: true },
    organization: { value: "NAME", about: "Of the first organization.", required: true },
    "password-stdin": { about: "Read the password from the standard input; it is taken from nowhere else.", required: true },
  },
  async run({ given, json, terminal, program, settings }) {
    const { email, name, organization } = given
    const input = { email: email!, name: name!, organization: organization!, password: await passwordFrom(terminal) }
    const made = await program.withOperations(settings, terminal.progress, (call) => call("setup", input))
    if (json) terminal.json(made)
    else terminal.line(`${made.user.email} is instance admin and owns ${made.organization}.`)
  },
}

/** The first line: `echo` puts an end of line behind what it prints. */
export async function passwordFrom(terminal: Terminal): Promise<string> {
  const password = (await terminal.readInput()).split(/\r?\n/)[0]!
  if (password === "") throw new ExitFault("usage", "the standard input holds no password")
  return password
}
