import { TrustMark } from "../../stats/trust-mark.tsx"
import { OTHER, UNKNOWN } from "../../stats/value-text.ts"

/** What a row means that is no value. */
export default function RowNote({ value, label }: { value: string; label: string | undefined }) {
  if (value === OTHER)
    return <TrustMark mark="?">There were more different values than are kept apart. The rest is counted here together.</TrustMark>
  if (label === UNKNOWN)
    return <TrustMark mark="?">Their browser or address does not tell. Filters, files and the API call it (none).</TrustMark>
  return <TrustMark mark="?">These came without a value.</TrustMark>
}
