import { expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { plugins } from "../../plugins/index.ts"
import { serving } from "../cli/footfall.ts"
import { google } from "../fakes/google.ts"
import { searchConsole } from "../fakes/search-console.ts"
import { bySize } from "../size.ts"
import { createOwner, createSite, type Person, signIn } from "./person.ts"

/** Kills of the back-fill, and of the run that fetches the last days again. */
const KILLS = bySize({ check: [1, 1], full: [12, 6], release: [40, 20] })
const DAY_MS = 86_400_000
const DAYS_WITH_DATA = 30
const ROWS_A_DAY = 40

const day = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10)

/** Returns what Google has of a day. Corrected figures are higher than those of the back-fill. */
function rowsOf(
  date: string,
  dimensions: readonly string[],
  isCorrected: boolean,
): { keys: string[]; clicks: number; impressions: number; position: number }[] {
  const shift = Number(date.slice(8)) + (isCorrected ? 100 : 0)
  const all = Array.from({ length: ROWS_A_DAY }, (_, index) => ({
    query: `query ${index}`,
    clicks: index + shift,
    impressions: 3 * index + 2 * shift,
    position: 4,
  }))
  const sum = (of: "clicks" | "impressions") => all.reduce((total, row) => total + row[of], 0)
  const total = { clicks: sum("clicks"), impressions: sum("impressions"), position: 4 }
  if (dimensions.length === 1) return [{ keys: [date], ...total }]
  if (dimensions.includes("country")) return [{ keys: [date, "deu", "DESKTOP"], ...total }]
  if (dimensions.includes("query"))
    return all.map(({ query, ...figures }) => ({ keys: [date, query, "https://shop.example/"], ...figures }))
  return [{ keys: [date, "https://shop.example/"], ...total }]
}

test.skipIf(!plugins.some(({ id }) => id === "integrations"))(
  `after ${KILLS[0]} kills of the back-fill and ${KILLS[1]} of a later run, each day of search data is stored once and as Google has it`,
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "footfall-kills-"))
    await using fake = await google({ now: Date.now })
    const api = searchConsole(fake)
    const [first, last] = [day(DAYS_WITH_DATA), day(2)]
    let isCorrected = false
    api.rows = ({ startDate, dimensions }) => (startDate < first || startDate > last ? [] : rowsOf(startDate, dimensions, isCorrected))
    try {
      await createOwner(dataDir)
      const urls = Object.entries(fake.settings).filter(([name]) => !name.startsWith("google_client_"))
      const flags = urls.flatMap(([name, value]) => [`--${name.replaceAll("_", "-")}`, value])
      const killed = async (start: (person: Person) => Promise<unknown>, kills: number): Promise<Record<string, number>> => {
        for (let kill = 0; ; kill++) {
          await using server = await serving(dataDir, ...flags)
          const person = await signIn(server.address)
          if (kill === 0) await start(person)
          if (kill === kills) {
            await until(() => isSynced(person))
            return await clicksByQuery(person)
          }
          const [asked, wanted] = [api.queries.length, 3 + ((kill * 29) % 90)]
          await until(async () => api.queries.length >= asked + wanted || (await isSynced(person)))
          await Bun.sleep((kill * 7) % 20)
          await server.end("SIGKILL")
        }
      }
      const backfilled = await killed(async (person) => {
        await createSite(person)
        const { body: account } = await person.send("POST", "/integrations/search-console/connect", {
          service_account: fake.serviceAccount(),
        })
        const mapping = { integration_id: account.id, property: "sc-domain:shop.example" }
        expect((await person.send("PUT", "/integrations/search-console/mapping", mapping)).status).toBe(200)
      }, KILLS[0]!)
      expect(backfilled).toEqual(expectedClicks(first, last, () => false))

      isCorrected = true
      const replaced = day(4)
      const renewed = await killed(async (person) => {
        expect((await person.send("POST", "/integrations/search-console/sync")).status).toBe(202)
      }, KILLS[1]!)
      // Days of Google are those of Los Angeles, so the fifth last one depends on the hour.
      const possible = [
        expectedClicks(first, last, (date) => date >= replaced),
        expectedClicks(first, last, (date) => date > replaced),
        expectedClicks(first, last, (date) => date >= day(5)),
      ]
      expect(possible).toContainEqual(renewed)
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  },
  bySize({ check: 240_000, full: 900_000, release: 1_800_000 }),
)

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 180_000
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error("It took longer than three minutes.")
    await Bun.sleep(20)
  }
}

/** Returns whether the mapping waits for the next day. */
async function isSynced(person: Person): Promise<boolean> {
  const { body } = await person.send("GET", "/integrations")
  const mapping = body.data.find(({ kind, scope }: { kind: string; scope: string }) => kind === "search-console" && scope === "site")
  if (mapping.last_error) throw new Error(JSON.stringify(mapping.last_error))
  return Date.parse(mapping.next_run_at) > Date.now()
}

async function clicksByQuery(person: Person): Promise<Record<string, number>> {
  const { body } = await person.send("GET", `/search-console/report?group_by=query&from=${day(60)}&to=${day(0)}&limit=200`)
  expect(body.totals.clicks).toBe(body.rows.reduce((sum: number, { clicks }: { clicks: number }) => sum + clicks, 0))
  return Object.fromEntries(body.rows.map(({ key, clicks }: { key: string; clicks: number }) => [key, clicks]))
}

function expectedClicks(first: string, last: string, isCorrected: (date: string) => boolean): Record<string, number> {
  const clicks: Record<string, number> = {}
  for (let ago = DAYS_WITH_DATA; ago >= 0; ago--) {
    const date = day(ago)
    if (date < first || date > last) continue
    for (const { keys, clicks: own } of rowsOf(date, ["date", "query", "page"], isCorrected(date)))
      clicks[keys[1]!] = (clicks[keys[1]!] ?? 0) + own
  }
  return clicks
}
