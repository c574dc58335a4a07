import { type Static, Type as t } from "@sinclair/typebox"
import { COLLECT, THINGS } from "./limits.ts"
import { count, percentage, REPORT_FACTS } from "./report.ts"

/** An item of a journey: a page or a custom event. */
const Item = t.Object(
  {
    page: t.Optional(t.String({ minLength: 1, maxLength: COLLECT.pageBytes, description: "Path of the page. Alternative to `event`." })),
    event: t.Optional(
      t.String({ minLength: 1, maxLength: COLLECT.nameChars, description: "Name of the custom event. Alternative to `page`." }),
    ),
  },
  { additionalProperties: false },
)
const { min: minSteps, max: maxSteps } = THINGS.journeySteps
const Pin = t.Object(
  { column: t.Integer({ minimum: 1, maximum: maxSteps - 1, description: "Index of the column." }), ...Item.properties },
  { additionalProperties: false },
)
export const JourneyInput = t.Object(
  {
    start: t.Optional(
      t.Object(Item.properties, { additionalProperties: false, description: "Item at which the paths start. Alternative to `end`." }),
    ),
    end: t.Optional(
      t.Object(Item.properties, { additionalProperties: false, description: "Item at which the paths end. Alternative to `start`." }),
    ),
    steps: t.Optional(
      t.Integer({ minimum: minSteps, maximum: maxSteps, description: "Number of columns, including that of the start or end." }),
    ),
    top: t.Optional(
      t.Integer({
        minimum: THINGS.journeyTop.min,
        maximum: THINGS.journeyTop.max,
        description: `Maximum number of items per column. Default: ${THINGS.journeyTop.default}.`,
      }),
    ),
    collapse_query: t.Optional(t.Boolean({ description: "Whether to ignore query parameters of pages." })),
    group: t.Optional(
      t.Union([t.Literal("page"), t.Literal("directory")], { description: "Whether items are pages or their directories." }),
    ),
    events: t.Optional(t.Boolean({ description: "Whether custom events are items, too. Default: false." })),
    pins: t.Optional(t.Array(Pin, { maxItems: maxSteps - 1, description: "Items that the visits must contain, by column." })),
  },
  { additionalProperties: false, title: "JourneyInput" },
)
export type JourneyInput = Static<typeof JourneyInput>
export type JourneyItem = Static<typeof Item>

export const Journeys = t.Object(
  {
    ...REPORT_FACTS,
    mode: t.Union([t.Literal("start"), t.Literal("end")], { description: "Whether the paths start or end at the anchor." }),
    anchor: t.Object(Item.properties, { additionalProperties: false, description: "Page or event at which the paths start or end." }),
    columns: t.Array(
      t.Array(
        t.Object({
          kind: t.Union([t.Literal("page"), t.Literal("event"), t.Literal("other"), t.Literal("exit"), t.Literal("entry")], {
            description: "Kind of the node. `other` stands for all further items, `exit` and `entry` for the ends of visits.",
          }),
          page: t.String({ description: "Path of the page. For kind `event`, the name of the event." }),
          visits: count("Number of visits."),
          conversion_rate: percentage("Percentage of the visits with the anchor."),
        }),
      ),
      { description: "Nodes by column." },
    ),
    edges: t.Array(
      t.Object({
        column: count("Index of the source column."),
        from: t.String({ description: "Page or event of the source node." }),
        to: t.String({ description: "Page or event of the target node." }),
        from_node: t.Integer({ description: "Index of the source node in its column." }),
        to_node: t.Integer({ description: "Index of the target node in the next column." }),
        visits: count("Number of visits."),
      }),
      { description: "Steps between nodes of neighbouring columns." },
    ),
    dropped: t.Array(t.Array(t.Integer({ minimum: 0 })), {
      description:
        "Number of visits that ended at each node, by column and index. The last column is left out, because it is unknown there.",
    }),
    sample_visits: count("Number of visits with the anchor."),
    sparse: t.Optional(
      t.Boolean({ description: `Whether there are fewer than ${THINGS.journeySample} visits with the anchor. Absent if not.` }),
    ),
  },
  { title: "Journeys" },
)
export type Journeys = Static<typeof Journeys>
