import type { Call, Command, Program, Running } from "./command.ts"

export const serve: Command = {
  name: "serve",
  about: "Serve: take events and answer questions, until the process is told to end.",
  serves: true,
  async run(call) {
    const { program, settings, terminal } = call
    const running = await program.serve(settings, { report: terminal.progress })
    await untilEnd(program, running, () => greet(call, running))
  },
}

/** Serves until a signal, or until it cannot go on. Signals are listened for before `announce`: who reads it may send one at once. */
export async function untilEnd(program: Program, running: Running, announce: () => void): Promise<void> {
  const interrupted = program.interrupted()
  announce()
  const fault = await Promise.race([interrupted, running.failed])
  await running.stop()
  if (fault) throw fault
}

function greet({ json, terminal, settings }: Call, { address, isNew }: Running): void {
  if (json) terminal.json({ address, is_new: isNew })
  else terminal.line(`Footfall listens at ${address}`)
  if (isNew && !json) terminal.line(howToBegin(address, settings.data_dir))
}

/** What stands between a fresh instance and the first number. */
function howToBegin(address: string, dataDir: string | undefined): string {
  const where = dataDir === undefined ? "" : ` --data-dir ${dataDir}`
  return `
How to begin (in a second terminal; from source write "npx -y bun@${Bun.version} src/main.ts" for "footfall"):
  1. footfall site create --name "My site" --hosts www.example.org${where}
     prints the line to put on your pages:
     <script defer src="${address}/js/script.js" data-site="…"></script>
  2. footfall key create --name "My key" --scopes stats:read${where}
     prints a key, once.
  3. curl -H "Authorization: Bearer ff_…" "${address}/api/public/v1/sites/1/stats/summary?period=today"
For people who sign in: footfall setup --email you@example.org --name You --organization "Your organization" --password-stdin${where}
`
}
