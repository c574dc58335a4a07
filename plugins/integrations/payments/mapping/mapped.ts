import type { PaymentReceived } from "#plugin"

/** A payment object before its person is known. The key of a person is made by the core. */
export type PaymentDraft = Omit<PaymentReceived, "version" | "provider" | "person" | "import_id">

export interface MappedPayment {
  payment: PaymentDraft
  /** The buyer's user id on the site, as the shop has passed it to the provider. */
  userId?: string | undefined
  /** Pseudonym of the visitor, which only senders of the generic form name. */
  visitor?: string | undefined
  /** Whether the amount is the sum of all refunds of the sale so far, because the provider reports no single refunds. */
  isCumulative?: boolean
}

/** Payments of an event, or why it has none. */
export type Mapped = { payments: readonly MappedPayment[] } | { ignored: string }

/** Payments of a provider through which money always passes. An invoice or order of 0, as for a trial, is left out. */
export const paid = (mapped: MappedPayment): Mapped =>
  mapped.payment.amount_minor === 0 ? { ignored: "Nothing was paid." } : { payments: [mapped] }

export const unknownType = (type: string | undefined): Mapped => ({
  // The type is a name from the provider's list; anything else is not worth repeating.
  ignored: type !== undefined && /^[\w./-]{1,100}$/.test(type) ? `Events of the type ${type} report no payment.` : "The event has no type.",
})
