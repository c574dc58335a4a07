import type { ReportRange } from "../../../domain/report.ts"
import type { AddressInterval } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { fittingIntervals, lengthOf } from "../data/ranges.ts"

const WORDS: Readonly<Record<AddressInterval, string>> = {
  auto: "Automatic",
  hour: "By hour",
  day: "By day",
  week: "By week",
  month: "By month",
}

/** Select field for the interval. It offers only intervals that suit the period. */
export function IntervalField({ range }: { range: ReportRange }) {
  const { address, go } = useSiteAddress()
  return (
    <select
      class="plain-select"
      aria-label="Interval"
      value={address.interval}
      onChange={(event) => go({ interval: event.currentTarget.value as AddressInterval }, { replace: true })}
    >
      {fittingIntervals(lengthOf(range)).map((interval) => (
        <option key={interval} value={interval} selected={interval === address.interval}>
          {WORDS[interval]}
        </option>
      ))}
    </select>
  )
}
