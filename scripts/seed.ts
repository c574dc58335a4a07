/**
 * `bun run seed --days 365 --events 1000000 --seed 7 [--sites N] [--end INSTANT] [--data-dir PATH]` generates traffic up to now, or up to
 * an instant such as 2026-11-21T00:00:00Z, and sends it through the collector and the event store at the times of the events. The same
 * options generate the same events.
 */
import { parseArgs } from "node:util"
import { loadConfig } from "../config/load.ts"
import { version } from "../package.json" with { type: "json" }
import { plugins } from "../plugins/index.ts"
import { createApp } from "../src/app.ts"
import { replayClock } from "../src/services/demo/demo.ts"
import { fillDemo } from "../src/wiring/demo.ts"

const { values } = parseArgs({
  options: {
    days: { type: "string", default: "365" },
    events: { type: "string", default: "1000000" },
    seed: { type: "string", default: "7" },
    sites: { type: "string", default: "1" },
    end: { type: "string" },
    "data-dir": { type: "string" },
  },
})
const shape = { days: wholeNumber("days"), events: wholeNumber("events"), seed: wholeNumber("seed"), sites: wholeNumber("sites") }
const flags = values["data-dir"] === undefined ? {} : { data_dir: values["data-dir"] }
const { config, described } = loadConfig({ flags, environment: process.env, workingDirectory: process.cwd(), plugins })
const options = {
  described,
  plugins,
  // Generated events are sent as fast as possible.
  config: { ...config, limit_site_events: 0, limit_instance_events: 0, limit_visitor_events: 0 },
  version,
  clock: replayClock({ now: instantOf(values.end), monotonic: () => performance.now() }),
  log: { debug() {}, info() {}, warn: console.warn, error: console.error },
  random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)),
  workers: {
    query: new URL("../src/query/engine/worker.ts", import.meta.url).href,
    backup: new URL("../src/services/backup/worker.ts", import.meta.url).href,
    plugin: new URL("../src/plugin-worker.ts", import.meta.url).href,
    hash: new URL("../src/services/sign-in/hash-worker.ts", import.meta.url).href,
    shipping: new URL("../src/services/shipping/worker.ts", import.meta.url).href,
    network: new URL("../src/services/shipping/network-worker.ts", import.meta.url).href,
    rows: new URL("../src/store/rows/worker.ts", import.meta.url).href,
  },
}

process.umask(0o077)
const begun = performance.now()
const app = await createApp(options)
try {
  if ((await app.instance.allSites()).length > 0)
    throw new Error(`${config.data_dir} already contains sites. Choose a new folder with --data-dir.`)
  const made = await fillDemo(app, options, shape, ({ done, total }) => progress(done, total))
  if (process.stderr.isTTY) process.stderr.write("\n")
  console.log(JSON.stringify({ ...made, seconds: Math.round((performance.now() - begun) / 1_000) }, null, 2))
} finally {
  await app.stop()
}

function instantOf(text: string | undefined): () => number {
  if (text === undefined) return Date.now
  const end = Date.parse(text)
  if (Number.isNaN(end)) throw new Error("--end must be an instant such as 2026-11-21T00:00:00Z")
  return () => end
}

function wholeNumber(name: "days" | "events" | "seed" | "sites"): number {
  const number = Number(values[name])
  if (!Number.isSafeInteger(number) || number < (name === "seed" ? 0 : 1)) throw new Error(`--${name} must be a whole number`)
  return number
}

function progress(done: number, total: number): void {
  if (!process.stderr.isTTY) return
  const rate = Math.round((done * 1_000) / (performance.now() - begun))
  process.stderr.write(`\r${done} of ${total} events, ${rate} a second, ${Math.ceil((total - done) / Math.max(1, rate))} s to go  `)
}
