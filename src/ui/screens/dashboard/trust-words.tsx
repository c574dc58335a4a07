/** For how long a visitor is counted once, where that is shorter than a period may be. */
const WINDOWS: Readonly<Record<string, string>> = {
  day: "for one day",
  week: "for one week",
  month: "for one month",
  mixed: "for as long as the settings of that day said",
}

const WORDS = {
  dropped: "Events of this period that a rule refused. They are in no figure. Open the list by reason and day.",
  imported: "Imported history is part of the figures.",
  "left out": "Imported history is not part of the figures.",
  estimated: "Imported history tells visitors by day only. Over several days they are added up, so somebody who came twice counts twice.",
}

/** What a mark below the chart means; `visitor_window` is that of the answer. */
export type TrustWordsProps = { of: keyof typeof WORDS } | { of: "unique"; visitor_window: string }

export default function TrustWords(props: TrustWordsProps) {
  if (props.of !== "unique") return <>{WORDS[props.of]}</>
  return <>A visitor is recognised {WINDOWS[props.visitor_window]}, so somebody who comes back later counts again.</>
}
