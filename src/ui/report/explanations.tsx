import { OTHER, UNKNOWN } from "./data/figures.ts"
import { TrustMark } from "./trust.tsx"

/** Texts for the time during which a visitor is counted once. */
const WINDOWS: Readonly<Record<string, string>> = {
  day: "for one day",
  week: "for one week",
  month: "for one month",
  mixed: "according to the settings of each day",
}

const WORDS = {
  dropped: "Events blocked by your rules. They are not counted. See the list.",
  imported: "The figures include imported history.",
  "left out": "The figures do not include imported history.",
  running: "This period isn't over yet.",
  "running, compared": "This period isn't over yet, so the comparison will look low until it is.",
  estimated:
    "Imported history has visitors per day only. Over several days they are added up, so someone who came on two days counts twice.",
}

/** Properties of the explanation of a mark below the chart. `visitor_window` is that of the report. */
export type TrustTextProps = { of: keyof typeof WORDS } | { of: "unique"; visitor_window: string }

export function TrustText(props: TrustTextProps) {
  if (props.of !== "unique") return <>{WORDS[props.of]}</>
  return <>Visitors are recognized {WINDOWS[props.visitor_window]}, so someone who returns later counts again.</>
}

/** Explains a row of missing or grouped values. */
export function RowNote({ value, label }: { value: string; label: string | undefined }) {
  if (value === OTHER)
    return <TrustMark mark="?">The limit of distinct values was reached. All further values are counted here together.</TrustMark>
  if (label === UNKNOWN)
    return <TrustMark mark="?">Not known from the browser or IP address. Filters, exports and the API call this (none).</TrustMark>
  return <TrustMark mark="?">These visits have no value.</TrustMark>
}
