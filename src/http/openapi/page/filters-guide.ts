import { OPERATORS, type Operator } from "../../../domain/filter.ts"
import { QUERY } from "../../../domain/limits.ts"
import { asJson, block, escapeHtml, type Guide, inline, prose, table } from "./markup.ts"

interface Example {
  meaning: string
  dimension: string
  /** Name of the dimension in the query form. */
  query: string
  values: readonly string[]
  selects: string
}

/** An example of each operator (metrics.md section 10). */
const EXAMPLES: Readonly<Record<Operator, Example>> = {
  is: {
    ...{ meaning: "The value equals one of the values.", dimension: "country", query: "visit:country", values: ["DE", "AT"] },
    selects: "Visits from Germany or Austria.",
  },
  is_not: {
    ...{ meaning: "The value equals none of them.", dimension: "source", query: "visit:source", values: ["Google"] },
    selects: "Visits from all sources but Google, those without a source included.",
  },
  contains: {
    ...{ meaning: "One of them is part of the value.", dimension: "page", query: "event:page", values: ["shoe"] },
    selects: "Events on `/shoes` and `/sale/running-shoes`.",
  },
  contains_not: {
    ...{ meaning: "None of them is part of the value.", dimension: "utm_campaign", query: "visit:utm_campaign", values: ["test"] },
    selects: "Visits whose campaign does not contain `test`, and those without a campaign.",
  },
  starts_with: {
    ...{ meaning: "The value begins with one of them.", dimension: "page", query: "event:page", values: ["/blog/"] },
    selects: "Events on all pages below `/blog/`.",
  },
  matches_wildcard: {
    ...{ meaning: "The whole value matches a pattern, in which `*` is any text.", dimension: "page", query: "event:page" },
    ...{ values: ["/shop/*/reviews"], selects: "Events on `/shop/shoes/reviews` and `/shop/a/b/reviews`." },
  },
  matches_wildcard_not: {
    ...{ meaning: "The whole value matches none of the patterns.", dimension: "referrer", query: "visit:referrer" },
    ...{ values: ["*.example/*"], selects: "Visits that no page below a host in `.example` linked to." },
  },
}

const ABOUT = `\`filters\` is a list of filters that must all match. Within one filter any of the values may match. Under \`stats\`, \`filters\` is the JSON text of the list,
encoded for the query string. In the body of \`POST /query\` it is the list itself, and each filter is a list of operator, dimension and values.`

const FLAT = [
  { dimension: "country", values: ["DE"] },
  { dimension: "page", operator: "starts_with", values: ["/blog/"] },
]
const QUERIED = [
  ["is", "visit:country", ["DE"]],
  ["contains", "event:page", ["/blog/"], { case_sensitive: false }],
]

const LEVELS = `Filters by dimensions of the event must be met by the same event: \`page\` is \`/pricing\` and \`event\` is \`signup\` selects the sign-ups on the pricing page.
Filters by dimensions of the visit select all events of these visits. To select visits in which something else happened, use \`has_done\` in \`POST /query\`.

The same holds for grouping: \`event:props:plan\` with a filter on \`event:name\` groups these events by their own \`plan\`. Events without it are in the row \`(none)\`.`

const ALTERNATIVES = {
  any: [
    { dimension: "country", values: ["DE"] },
    { dimension: "language", values: ["de-DE"] },
  ],
}

const TREES: readonly (readonly [filter: unknown, selects: string])[] = [
  [
    [
      "or",
      [
        ["is", "visit:country", ["DE"]],
        ["is", "visit:language", ["de-DE"]],
      ],
    ],
    "Visits from Germany, and those in German.",
  ],
  [["not", ["is", "event:page", ["/"]]], "Events on all pages but the home page."],
  [["has_done", ["is", "event:goal", ["Signed up"]]], "All events of visits with a sign-up."],
  [["has_not_done", ["is", "event:name", ["signup"]]], "All events of visits without a sign-up."],
  [["is", "event:props:plan", ["pro"]], "Events whose property `plan` is `pro`."],
  [["is", "segment", [4]], "What the saved segment 4 of the site selects."],
]

const DETAILS = `A property needs its key: \`{"dimension": "property", "property": "plan", "values": ["pro"]}\`, in queries \`event:props:plan\`. A saved segment or cohort
is named by its id: \`{"dimension": "segment", "values": ["4"]}\`. Both allow \`is\` and \`is_not\`. A goal allows \`is\` and \`contains\`.

Missing values are \`(none)\`, and \`Direct\` for source and referrer: \`source\` is \`Direct\` selects visits without a source. Negative operators also select missing values.

\`is\` and \`is_not\` distinguish upper and lower case. Under \`stats\` the other operators do so only for pages, titles, events, goals and properties. In
\`POST /query\` all of them do, unless the filter ends with \`{"case_sensitive": false}\`. There are no regular expressions.

Limits: ${QUERY.flatFilters} filters of ${QUERY.flatValues} values under \`stats\`, ${QUERY.leaves} filters of ${QUERY.clauses} values in \`POST /query\`, ${QUERY.valueChars} characters per value, and ${QUERY.wildcardChars} characters
and ${QUERY.wildcardStars} \`*\` per pattern.`

const json = (value: unknown): string => `<code>${escapeHtml(JSON.stringify(value))}</code>`

function operatorRows(): string[][] {
  return OPERATORS.map((operator) => {
    const { meaning, dimension, query, values, selects } = EXAMPLES[operator]
    const flat = { dimension, ...(operator !== "is" && { operator }), values }
    return [`<code>${operator}</code><br>${inline(meaning)}`, `${json(flat)}<br>${json([operator, query, values])}`, inline(selects)]
  })
}

/** Explains filters, with an example of each operator in both forms. */
export const filtersGuide = (api: string): Guide => ({
  id: "filters",
  title: "Filters",
  html: `${prose(ABOUT)}
${block("Reports under stats", escapeHtml(`curl -G "${api}/sites/1/stats/summary" \\\n  -H "Authorization: Bearer $KEY" \\\n  -d period=30d \\\n  --data-urlencode 'filters=${JSON.stringify(FLAT)}'`))}
${block("filters in POST /query", asJson(QUERIED))}
<h3>Operators</h3>${table(["Operator", "Example, and the same in queries", "Selects"], operatorRows())}
<h3>Events and visits</h3>${prose(LEVELS)}
<h3>Combinations</h3>${prose("Under `stats` and in segments, `any` is a list of filters of which one must match. It cannot contain another `any`. In queries, operators combine filters.")}
${table(
  ["Filter", "Selects"],
  [
    [json(ALTERNATIVES), "Under <code>stats</code> and in segments: visits from Germany, and those in German."],
    ...TREES.map(([filter, selects]) => [json(filter), inline(selects)]),
  ],
)}
<h3>Properties, missing values and case</h3>${prose(DETAILS)}`,
})
