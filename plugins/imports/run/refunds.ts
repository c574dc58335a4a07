import { join } from "node:path"
import type { PaymentReceived, Site } from "#plugin"
import { currencyDecimals, instantText, PAYMENT_RECEIVED, parseAmount, parseCurrency, readPayment } from "#plugin/worker"
import type { ImportsHost } from "../area.ts"
import { type ImportRow, importById, setRefundsPublished } from "../rows.ts"
import type { SourceRefund } from "../source.ts"
import { LineWriter, linesOf } from "./files.ts"
import type { RefundSummary } from "./task.ts"

/**
 * Refunds: payments without an event. The worker stages them, and once the import is completed the area of revenue receives them as product
 * events. Catalog and event store share no transaction, so a refund can arrive twice; its id makes that harmless.
 */
export type StagedRefund = Pick<PaymentReceived, "external_id" | "parent" | "amount_minor" | "currency" | "occurred_at">

const QUARTER_MS = 900_000

/** Returns a refund as it is published, or undefined if its amount, currency or ids are invalid. */
export function stagedRefund({ id, order, amount, currency: sent, at }: SourceRefund): StagedRefund | undefined {
  const currency = parseCurrency(sent)
  const minor = currency === undefined ? undefined : parseAmount(amount, currencyDecimals(currency)!) // an active code
  if (currency === undefined || typeof minor !== "number" || minor <= 0) return undefined
  const refund = {
    ...{ external_id: `${order}:${id}`, amount_minor: minor, currency, occurred_at: instantText(at) },
    ...(order !== "" && { parent: order }),
  }
  return "faults" in readPayment(paymentOf(refund, 1)) ? undefined : refund
}

/** Name of the file among the sorted rows. */
export const REFUNDS_FILE = "refunds"

/** Refunds while an import is read. */
export class StagedRefunds {
  readonly #path: string | undefined
  readonly #ids = new Set<string>()
  readonly #quarters = new Set<number>()
  #writer: LineWriter | undefined

  /** Without a folder no refunds are written. */
  constructor(folder: string | undefined) {
    this.#path = folder === undefined ? undefined : join(folder, REFUNDS_FILE)
  }

  /** Returns whether an earlier row has the same id. */
  has({ external_id }: StagedRefund): boolean {
    return this.#ids.has(external_id)
  }

  add(refund: StagedRefund, at: number): void {
    this.#ids.add(refund.external_id)
    this.#quarters.add(Math.floor(at / QUARTER_MS))
    if (this.#path === undefined) return
    this.#writer ??= new LineWriter(this.#path)
    this.#writer.write(JSON.stringify(refund))
  }

  /** Ends the file. Returns undefined without any refund. */
  close(): RefundSummary | undefined {
    this.#writer?.close()
    return this.#ids.size === 0 ? undefined : { count: this.#ids.size, quarters: [...this.#quarters].sort((a, b) => a - b) }
  }
}

const paymentOf = (refund: StagedRefund, importId: number): PaymentReceived => ({
  ...{ version: 1, provider: "import", import_id: importId, type: "refund", aliases: [] },
  ...refund,
})

/** What an import knows of its refunds. */
export interface Refunds extends RefundSummary {
  /** Number of refunds that were published. */
  published: number
}

export const refundsOf = ({ refunds_json }: Pick<ImportRow, "refunds_json">): Refunds | undefined =>
  refunds_json === null ? undefined : (JSON.parse(refunds_json) as Refunds) // written by the run

/** Returns the start of each quarter of an hour that has refunds, in epoch milliseconds. */
export const refundTimes = (row: Pick<ImportRow, "refunds_json">): number[] =>
  (refundsOf(row)?.quarters ?? []).map((quarter) => quarter * QUARTER_MS)

const PUBLISHED_AT_ONCE = 500

/**
 * Publishes the refunds of a completed import that are not published yet, in slices whose transaction notes how far it has come. Ends early
 * if the import is no longer completed: the event of its undoing comes later and removes what was published.
 */
export async function publishRefunds({ db, outbox }: ImportsHost, { id }: ImportRow, { site, path, signal }: Publishing): Promise<void> {
  for (;;) {
    signal?.throwIfAborted()
    const row = await importById(db, id)
    const refunds = row && refundsOf(row)
    if (row?.state !== "completed" || !refunds || refunds.published >= refunds.count) return
    const lines = linesOf(path).drop(refunds.published).take(PUBLISHED_AT_ONCE)
    const events = lines.map((line) => ({
      ...{ event: PAYMENT_RECEIVED, organizationId: site.organization_id, siteId: site.id },
      payload: paymentOf(JSON.parse(line) as StagedRefund, id), // written by `StagedRefunds`
    }))
    const slice = [...events]
    await db.transaction(async (statements) => {
      const noted = await setRefundsPublished(statements, id, refunds.published + slice.length)
      if (noted) await outbox.write(statements, ...slice)
    })
  }
}

interface Publishing {
  site: Site
  /** Path of the staged refunds. */
  path: string
  signal?: AbortSignal
}
