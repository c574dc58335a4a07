import type { FactorWanted } from "../../sign-in/factor-form.tsx"

/** The ticket of a right password, between its page and that of the second factor. In memory alone: it lives five minutes. */
let pending: FactorWanted | undefined

export const pendingFactor = (): FactorWanted | undefined => pending
export const keepPendingFactor = (wanted: FactorWanted | undefined): void => {
  pending = wanted
}
