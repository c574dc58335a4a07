import type { RowStatements, Site } from "#plugin"
import type { RevenueHost } from "../host.ts"
import { createInTurn } from "../in-turn.ts"
import type { Rates } from "../rates/rates.ts"
import type { RevenueSettingsStore } from "../settings.ts"
import { Book } from "./book.ts"
import { packTransactions } from "./chunks.ts"
import { createDayOf, type RevenueWriter } from "./writer.ts"

export interface WritingOptions {
  host: RevenueHost
  settings: Pick<RevenueSettingsStore, "of">
  rates: Pick<Rates, "lookupIn">
}

/** Writes to the transactions of sites. The steps of a site run one after another, so that none acts on what another one changes. */
export function createWriting({ host, settings, rates }: WritingOptions) {
  const inTurn = createInTurn()

  /** Runs a transaction of the writer, with the settings of the site as they are. Must be short, because incoming events wait for it. */
  async function write<T>(site: Site, work: (writer: RevenueWriter, rows: RowStatements) => T): Promise<T> {
    const current = await settings.of(site)
    const numberer = await host.services.people.numberer(site.id)
    const dayOf = createDayOf(site.timezone)
    return host.rows.write((rows) => {
      const book = new Book(rows, site.id)
      const lookup = rates.lookupIn(rows, site.id)
      const result = work({ book, site, settings: current, lookup, now: host.now(), dayOf }, rows)
      book.flush()
      packTransactions(rows, site.id, book.unpacked, numberer, book)
      return result
    })
  }

  return {
    write,
    /** Runs several steps of a site without any other step in between. Inside, use `write`. */
    inTurn: <T>(siteId: number, work: () => Promise<T>): Promise<T> => inTurn(siteId, work),
    /** Runs one transaction in its turn. */
    writeInTurn: <T>(site: Site, work: (writer: RevenueWriter, rows: RowStatements) => T): Promise<T> =>
      inTurn(site.id, () => write(site, work)),
  }
}
export type Writing = ReturnType<typeof createWriting>
