import { type Payment, readPayment } from "#plugin"
import type { RevenueHost } from "../host.ts"
import { type Claim, NO_DETAILS } from "../orders/claim.ts"
import { recordRefund, voidRefund } from "../orders/refunds.ts"
import { recordSale, voidSale } from "../orders/sales.ts"
import type { Writing } from "./writing.ts"

/** Records payments that providers and imports report. A repeated one changes nothing. */
export const createPayments = ({ services, log }: RevenueHost, writing: Writing) => ({
  async record(siteId: number, payload: unknown): Promise<void> {
    const site = services.sites.directory.byId(siteId)
    if (!site) return // deleted since
    const read = readPayment(payload)
    if ("faults" in read) {
      log.error("a payment object was ignored because it is not valid", { siteId: site.id, faults: read.faults.slice(0, 5) })
      return
    }
    const { payment } = read
    const claim = claimOf(payment)
    await writing.writeInTurn(site, (writer) => {
      if (payment.type === "sale") payment.voided ? voidSale(writer, claim) : recordSale(writer, claim)
      else payment.voided ? voidRefund(writer, claim) : recordRefund(writer, claim)
    })
  },
})

const claimOf = (payment: Payment): Claim => ({
  ...NO_DETAILS,
  type: payment.type,
  provider: payment.provider,
  // Several imports can report a refund. Each keeps a transaction, of which only that of the import that holds the day counts.
  external_id: payment.import_id === undefined ? payment.external_id : `import:${payment.import_id}:${payment.external_id}`,
  aliases: payment.aliases,
  order_id: payment.order_id ?? null,
  parent_key: payment.parent ?? null,
  amount_minor: payment.amount_minor,
  amount_rank: payment.amount_rank,
  currency: payment.currency,
  tax_minor: payment.tax_minor,
  shipping_minor: payment.shipping_minor,
  discount_minor: payment.discount_minor,
  items: payment.items,
  trust: payment.provider === "import" ? "client" : "webhook",
  recurring: payment.recurring ?? null,
  import_id: payment.import_id ?? 0,
  occurred_at: payment.occurredAt,
  stated_at: payment.import_id === undefined ? payment.occurredAt : null,
  person: payment.person ?? null,
})
