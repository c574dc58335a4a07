import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { shellQuoted } from "../domain/text.ts"
import { wholeNumber } from "./arguments.ts"
import type { Call, Command, Invitation, Program, Running } from "./command.ts"
import type { Terminal } from "./terminal.ts"

export const serve: Command = {
  name: "serve",
  about: "Start the server and run until the process is stopped.",
  serves: true,
  async run(call) {
    const { json, program, settings, terminal } = call
    const how = { json, report: terminal.progress }
    const running = await program.serve(settings, how)
    const invitation = await running.inviteToSetUp((later) => showInvitation(call, later))
    let outcome = await untilEnd(program, running, () => greet(call, running, invitation))
    // A restart keeps the process and the port, so that supervisors and clients find the instance again.
    const again = { ...settings, port: new URL(running.address).port }
    while (outcome === "restart") outcome = await untilEnd(program, await program.serve(again, how), () => {})
  },
}

/**
 * Serves until a signal arrives, the instance fails or a restart is requested. Listens for signals before `announce`, because
 * a reader of the announcement may send one immediately. Throws the `ExitFault` of a failed instance.
 */
export async function untilEnd(program: Program, running: Running, announce: () => void): Promise<"end" | "restart"> {
  const interrupted = program.interrupted()
  announce()
  running.logStart()
  const outcome = await Promise.race([
    interrupted.then(() => "end" as const),
    running.failed,
    running.restarting.then(() => "restart" as const),
  ])
  await running.stop()
  if (typeof outcome !== "string") throw outcome
  return outcome
}

function greet({ json, terminal }: Call, { address, dataDir, isNew }: Running, invitation: Invitation | undefined): void {
  if (json) {
    terminal.json({ address, is_new: isNew, ...(invitation && { setup: invitationJson(invitation) }) })
    return
  }
  // The link comes first: most people need nothing else.
  if (invitation) terminal.line(`${setupLines(invitation)}\n`)
  terminal.line(`Footfall listens at ${address}`)
  if (isNew) terminal.line(howToBegin(address, dataDir, invitation !== undefined))
}

/** Prints the invitation that replaces an expired one. */
function showInvitation({ json, terminal }: { json: boolean; terminal: Terminal }, invitation: Invitation): void {
  if (json) terminal.json({ setup: invitationJson(invitation) })
  else terminal.line(`\n${setupLines(invitation)}`)
}

const invitationJson = ({ url, token, expiresAt }: Invitation) => ({ url, token, expires_at: new Date(expiresAt).toISOString() })

/** Returns the link for setting up in a browser. Browsers send no fragment to servers, so the token is in no log of a proxy. */
const setupLines = ({ url, token, expiresAt }: Invitation): string =>
  `Finish setup in your browser (link valid until ${new Date(expiresAt).toISOString().slice(11, 16)} UTC):
${url}#${token}`

/** Returns the commands that lead from a new instance to the first report. They work in any folder. */
function howToBegin(address: string, dataDir: string, hasNoUser: boolean): string {
  const where = ` --data-dir ${shellQuoted(dataDir)}`
  const steps = [
    ...(hasNoUser ? [setupStep(where)] : []),
    `footfall site create --name "My site" --hosts example.com${where}
     prints the snippet for your pages:
     <script defer src="${address}/js/script.js" data-site="…"></script>`,
    `footfall key create --name "My key" --scopes stats:read${where}
     prints an API key once.`,
    `curl -H "Authorization: Bearer ff_…" "${address}/api/public/v1/sites/1/stats/summary?period=today"`,
  ]
  const lead = hasNoUser ? "Or without a browser" : "Getting started"
  return `
${lead}, in a second terminal (use "./footfall" if "footfall" is not on the PATH, or "npx -y bun@${Bun.version} src/main.ts" from source):
${steps.map((step, i) => `  ${i + 1}. ${step}`).join("\n")}
`
}

const setupStep = (
  where: string,
): string => `footfall setup --email you@example.com --name You --organization "Your organization" --password-stdin${where}
     creates your account. The password is read from the first line of standard input.`

export const demo: Command = {
  name: "demo",
  about: "Start a demo with generated traffic in a temporary folder, deleted when the demo stops.",
  serves: true,
  flags: {
    days: { value: "N", about: "Days of traffic up to now. Default: 90." },
    events: { value: "N", about: "Number of events. Default: 50000." },
    seed: { value: "N", about: "Seed of the generator: the same seed generates the same traffic. Default: 1." },
  },
  async run({ given, json, terminal, program, settings }) {
    const folder = settings.data_dir ?? mkdtempSync(join(tmpdir(), "footfall-demo-"))
    const shape = {
      days: wholeNumber(given.days ?? "90", "--days", { min: 1, max: 3_650 }),
      events: wholeNumber(given.events ?? "50000", "--events", { min: 1, max: 100_000_000 }),
      seed: wholeNumber(given.seed ?? "1", "--seed", { min: 0, max: 2 ** 32 - 1 }),
    }
    try {
      const running = await program.serve({ ...settings, data_dir: folder }, { demo: shape, json, report: terminal.progress })
      const { address, demo: made } = running
      await untilEnd(program, running, () => {
        if (json) return terminal.json({ address, ...made })
        terminal.line(
          `A demo of three sites with ${shape.days} days of generated traffic is running at ${address}\nSign in as ${made?.user.email} with the password ${made?.user.password}\nOr query the API: curl -H "Authorization: Bearer ${made?.key}" "${address}/api/public/v1/sites/${made?.site_id}/stats/summary?period=30d"`,
        )
      })
    } finally {
      if (settings.data_dir === undefined) rmSync(folder, { recursive: true, force: true })
    }
  },
}
