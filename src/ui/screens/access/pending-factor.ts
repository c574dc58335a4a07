import type { FactorRequired } from "../../sign-in/factor-form.tsx"

/** Ticket for an accepted password, passed from the sign-in page to the second-factor page. Held in memory only; it expires after five minutes. */
let pending: FactorRequired | undefined

export const pendingFactor = (): FactorRequired | undefined => pending
export const keepPendingFactor = (wanted: FactorRequired | undefined): void => {
  pending = wanted
}
