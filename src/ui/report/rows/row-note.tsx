import { OTHER, UNKNOWN } from "../data/value-text.ts"
import { TrustMark } from "../trust-mark.tsx"

/** Explains a row of missing or grouped values. */
export default function RowNote({ value, label }: { value: string; label: string | undefined }) {
  if (value === OTHER)
    return <TrustMark mark="?">The limit of distinct values was reached. All further values are counted here together.</TrustMark>
  if (label === UNKNOWN)
    return <TrustMark mark="?">Not known from the browser or IP address. Filters, exports and the API call this (none).</TrustMark>
  return <TrustMark mark="?">These visits have no value.</TrustMark>
}
