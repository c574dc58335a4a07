import { EXPORTED_TRAITS, rowColumns } from "../../../domain/export.ts"
import { type Guide, inline, prose, table } from "./markup.ts"

type Column = readonly [type: string, meaning: string]

/** Type in Parquet and meaning of each column that visits do not share with their dimensions. */
const COLUMNS: Readonly<Record<string, Column>> = {
  at: ["timestamp", "Time of the event."],
  name: ["text", "`pageview`, or the name of a custom event. `engagement` reports reading time and is not counted as an event."],
  page: ["text", "Path of the page."],
  hostname: ["text", "Host of the page."],
  title: ["text", "Title of the page."],
  visitor: ["text", "Pseudonym of the visitor, the same in all exports of the site. It changes when the `visitor_window` ends."],
  visit: ["text", "Key of the visit, the same in all exports of the site."],
  interactive: ["boolean", "Whether the event ends a bounce."],
  revenue_amount: ["double", "Amount as sent, in major units of `revenue_currency`. Absent if the site restricts revenue."],
  revenue_currency: ["text", "ISO 4217 code. Absent if the site restricts revenue."],
  props: ["JSON", "Properties of the event: an object of strings, in CSV and Parquet as JSON text."],
  import_id: ["integer", "Id of the import, 0 for recorded rows."],
  scroll_depth: ["integer", "Depth in percent. Only with `engagement`."],
  engaged_ms: ["integer", "Time that the report adds to the engaged time, in milliseconds. Only with `engagement`."],
  position: ["integer", "Number of the event in its visit, from 1. Final once the visit has ended."],
  started_at: ["timestamp", "Time of the first event."],
  last_at: ["timestamp", "Time of the last pageview or custom event."],
  duration: ["integer", "Time from the first to the last of them, in seconds."],
  pageviews: ["integer", "Number of pageviews."],
  events: ["integer", "Number of pageviews and custom events."],
  bounce: ["boolean", "Whether the visit is a bounce."],
  engaged_seconds: ["integer", "Engaged time, in seconds."],
  entry_page: ["text", "Page of the first pageview."],
  entry_page_hostname: ["text", "Its host."],
  exit_page: ["text", "Page of the last pageview."],
  exit_page_hostname: ["text", "Its host."],
}

const code = (name: string): string => `<code>${name}</code>`
const TRAITS = EXPORTED_TRAITS.map((name) => `\`${name}\``).join(", ")

const ABOUT = `\`type=events\` exports the events that happened in the range and match the filters, except web vitals. \`type=visits\` exports the visits that
start in the range and have an event that matches. With \`since\` instead of a range, the rows are the visits that ended from that time on, or their events.
\`metrics\`, \`interval\` and \`property\` are rejected, and \`imports\` has no effect on raw rows.

Missing values are empty in CSV, absent in JSON and \`null\` in Parquet. Times are RFC 3339 text in UTC, in Parquet timestamps in milliseconds. In CSV, a text that a spreadsheet
would run as a formula begins with an additional \`'\`.`

const SHARED = `Both also have these text columns, which are those of the visit’s first event and have the values of the [dimensions](docs#metrics) of the same name: ${TRAITS}.`

function rows(of: "events" | "visits"): string[][] {
  return rowColumns(of)
    .filter((name) => !EXPORTED_TRAITS.some((trait) => trait === name))
    .map((name) => {
      const [type, meaning] = COLUMNS[name]!
      return [code(name), type, inline(meaning)]
    })
}

/** Explains the columns of exported raw rows. */
export const exportGuide = (): Guide => ({
  id: "exported-rows",
  title: "Exported events and visits",
  html: `${prose(ABOUT)}
<h3>Columns of events</h3>${table(["Column", "Type in Parquet", "Meaning"], rows("events"))}
<h3>Columns of visits</h3>${table(["Column", "Type in Parquet", "Meaning"], rows("visits"))}
${prose(SHARED)}`,
})
