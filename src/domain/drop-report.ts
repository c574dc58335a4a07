import { type Static, Type as t } from "@sinclair/typebox"
import type { Counter, DropReason } from "./event.ts"
import { count, ReportRange } from "./report.ts"
import { field, textOf } from "./response.ts"

/** The events that a site's rules dropped, by reason and local day. Reasons without drops are included. */
export const DropReport = t.Object(
  {
    range: ReportRange,
    days: t.Array(t.String({ format: "date" }), { description: "Days of the range, oldest first." }),
    rows: t.Array(
      t.Object({
        reason: textOf<DropReason>({ description: "Code of the reason." }),
        total: t.Integer({ minimum: 0, description: "Number of dropped events." }),
        counts: t.Array(t.Integer({ minimum: 0 }), { description: "Number of dropped events per day, oldest day first." }),
        entries: t.Array(t.Object({ entry: field.text("Host, page or id of the shield."), count: count("Number of dropped events.") }), {
          description: "Hosts, pages or shields that caused the drops, most frequent first. Empty for reasons that do not record them.",
        }),
      }),
      { description: "Drops by reason." },
    ),
    counters: t.Array(t.Object({ counter: textOf<Counter>({ description: "Name of the counter." }), total: count("Number of events.") }), {
      description: "Events that were stored without a part of their content, by what was left out.",
    }),
  },
  { title: "Drops" },
)
export type DropReport = Static<typeof DropReport>

/** The latest dropped events, newest first, without address, visitor or full user agent. */
export const DropSamples = t.Object(
  {
    data: t.Array(
      t.Object({
        at: field.instant("Time at which the event was dropped."),
        reason: textOf<DropReason>({ description: "Code of the reason." }),
        hostname: field.text("Host of the page."),
        page: t.String({ description: "Path of the page." }),
        browser: field.text("Browser, without its version. Empty when unknown."),
        country: t.String({ description: "ISO 3166-1 code of the country. Empty when unknown." }),
      }),
      { description: "Dropped events, newest first." },
    ),
  },
  { title: "DropSamples" },
)
export type DropSamples = Static<typeof DropSamples>
