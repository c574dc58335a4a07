import type { Call, Command, Invitation, Program, Running } from "./command.ts"
import type { Terminal } from "./terminal.ts"

export const serve: Command = {
  name: "serve",
  about: "Serve: take events and answer questions, until the process is told to end.",
  serves: true,
  async run(call) {
    const { program, settings, terminal } = call
    const running = await program.serve(settings, { report: terminal.progress })
    const invitation = await running.inviteToSetUp((later) => showInvitation(call, later))
    let outcome = await untilEnd(program, running, () => greet(call, running, invitation))
    // In the same process and at the same address: whoever watches over it, or talks to it, finds it again.
    const again = { ...settings, port: new URL(running.address).port }
    while (outcome === "restart") outcome = await untilEnd(program, await program.serve(again, { report: terminal.progress }), () => {})
  },
}

/**
 * Serves until a signal, until it cannot go on, or until it is to begin anew. Signals are listened for before `announce`: who
 * reads it may send one at once.
 */
export async function untilEnd(program: Program, running: Running, announce: () => void): Promise<"end" | "restart"> {
  const interrupted = program.interrupted()
  announce()
  const outcome = await Promise.race([
    interrupted.then(() => "end" as const),
    running.failed,
    running.restarting.then(() => "restart" as const),
  ])
  await running.stop()
  if (typeof outcome !== "string") throw outcome
  return outcome
}

function greet({ json, terminal, settings }: Call, { address, isNew }: Running, invitation: Invitation | undefined): void {
  if (json) {
    terminal.json({ address, is_new: isNew, ...(invitation && { setup: shownInvitation(invitation) }) })
    return
  }
  terminal.line(`Footfall listens at ${address}`)
  // The browser first: it is all that most people need.
  if (invitation) terminal.line(setupLines(invitation))
  if (isNew) terminal.line(howToBegin(address, settings.data_dir, invitation !== undefined))
}

/** One that takes the place of an expired one. */
function showInvitation({ json, terminal }: { json: boolean; terminal: Terminal }, invitation: Invitation): void {
  if (json) terminal.json({ setup: shownInvitation(invitation) })
  else terminal.line(setupLines(invitation))
}

const shownInvitation = ({ url, token, expiresAt }: Invitation) => ({ url, token, expires_at: new Date(expiresAt).toISOString() })

/** Address and token on lines of their own, to be copied; the page asks for the token. */
const setupLines = ({ url, token, expiresAt }: Invitation): string => `
Open this address in a browser and enter the token below it, until ${new Date(expiresAt).toISOString().slice(11, 16)} UTC:
${url}
${token}`

/** What stands between a fresh instance and the first number, by commands. */
function howToBegin(address: string, dataDir: string | undefined, isNobodyThere: boolean): string {
  const where = dataDir === undefined ? "" : ` --data-dir ${dataDir}`
  const steps = [
    ...(isNobodyThere ? [setupStep(where)] : []),
    `footfall site create --name "My site" --hosts www.example.org${where}
     prints the line to put on your pages:
     <script defer src="${address}/js/script.js" data-site="…"></script>`,
    `footfall key create --name "My key" --scopes stats:read${where}
     prints a key, once.`,
    `curl -H "Authorization: Bearer ff_…" "${address}/api/public/v1/sites/1/stats/summary?period=today"`,
  ]
  const lead = isNobodyThere ? "Or without a browser" : "How to begin"
  return `
${lead}, in a second terminal (from source write "npx -y bun@${Bun.version} src/main.ts" for "footfall"):
${steps.map((step, i) => `  ${i + 1}. ${step}`).join("\n")}
`
}

const setupStep = (
  where: string,
): string => `footfall setup --email you@example.org --name You --organization "Your organization" --password-stdin${where}
     makes your account; the password is the first line of the standard input.`
