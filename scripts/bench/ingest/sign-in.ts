/**
 * Measures whether sign-ins slow down ingestion: the time to acknowledge an event at a steady rate, alone and during two floods, in
 * turn in one run. The guesses come from one address, like an attacker's, and most are rejected before a hash is computed. The crowd
 * has a separate address each and the right password, so that no limit rejects it and hashes are computed all the time.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { FROM_SOURCE, prepareSite, prepareUser, serveFootfall, USER } from "../../instance.ts"
import { ms, table } from "../table.ts"
import { quantile } from "../timing.ts"
import { UNLIMITED } from "./ingest.ts"
import { steadyLoad } from "./pressure.ts"

const ROUNDS = 3

interface Flood {
  name: string
  perSecond: number
  /** Returns the client address of the attempt with this number. */
  address(number: number): string
  password: string
}

const FLOODS: readonly Flood[] = [
  {
    name: "2,000 guesses a minute from one address",
    perSecond: 2_000 / 60,
    address: () => "203.0.113.9",
    password: "a wrong long password",
  },
  {
    name: "a crowd of 50 a second",
    perSecond: 50,
    address: (n) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
    password: USER.password,
  },
]

interface Round {
  latencies: number[]
  answers: Map<number, number>
}

export async function measureSignIn(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  try {
    const site = await prepareSite(FROM_SOURCE, dataDir)
    await prepareUser(FROM_SOURCE, dataDir)
    await using server = await serveFootfall({ dataDir, flags: UNLIMITED })
    const send = () => steadyLoad(server.address, site.trackingId)
    await send() // warm-up
    const alone: number[] = []
    const beside = FLOODS.map((): Round => ({ latencies: [], answers: new Map() }))
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(...(await send()))
      for (const [index, each] of FLOODS.entries()) {
        const over = new AbortController()
        const flooded = pour(server.address, each, beside[index]!.answers, over.signal)
        beside[index]!.latencies.push(...(await send()))
        over.abort()
        await flooded
      }
    }
    print(alone, beside)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** An open loop: each sign-in is due at a fixed time, regardless of delayed answers. */
async function pour(address: string, flood: Flood, answers: Map<number, number>, over: AbortSignal): Promise<void> {
  const running = new Set<Promise<void>>()
  const begun = performance.now()
  for (let number = 0; !over.aborted; number++) {
    await Bun.sleep(begun + (number * 1_000) / flood.perSecond - performance.now())
    const tried = signIn(address, flood, number).then((status) => {
      answers.set(status, (answers.get(status) ?? 0) + 1)
      running.delete(tried)
    })
    running.add(tried)
  }
  await Promise.all(running)
}

async function signIn(server: string, { address, password }: Flood, number: number): Promise<number> {
  const headers = { "content-type": "application/json", "x-forwarded-for": address(number) }
  const body = JSON.stringify({ ...USER, password })
  const response = await fetch(`${server}/api/private/auth/login`, { method: "POST", headers, body, keepalive: false })
  await response.arrayBuffer()
  return response.status
}

function print(alone: readonly number[], beside: readonly Round[]): void {
  const ratio = (latencies: readonly number[], share: number) => (quantile(latencies, share) / quantile(alone, share)).toFixed(2)
  const row = (name: string, latencies: readonly number[], answers: ReadonlyMap<number, number>) => [
    name,
    ms(quantile(latencies, 0.5)),
    ms(quantile(latencies, 0.99)),
    ratio(latencies, 0.5),
    ratio(latencies, 0.99),
    [...answers]
      .sort(([a], [b]) => a - b)
      .map(([status, count]) => `${count} × ${status}`)
      .join(", "),
  ]
  console.log(`\n### Ingestion beside sign-ins, ${ROUNDS} rounds by turns\n`)
  const rows = FLOODS.map(({ name }, index) => row(name, beside[index]!.latencies, beside[index]!.answers))
  const columns = ["Acknowledged", "p50 ms", "p99 ms", "× p50", "× p99", "sign-ins answered"]
  console.log(table(columns, [row("alone", alone, new Map()), ...rows]))
}
