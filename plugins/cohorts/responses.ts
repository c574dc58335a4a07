/** Responses of the area's routes. The dashboard takes its types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { CELL_STATES, CREATED_AT, field, instantOrNull, instantText, orNull, PeopleIdentity, textOf, UPDATED_AT } from "#plugin"
import type { Cohort, Restriction } from "./cohort.ts"
import { DefinitionInput } from "./definition.ts"
import type { Erasure } from "./rows.ts"
import { oneOf } from "./schemas.ts"

const count = (description: string) => t.Integer({ minimum: 0, description })
const countOrNull = (description: string) => orNull(count(description))
const rate = (description: string) => t.Number({ description })
const rateOrNull = (description: string) => orNull(rate(description))
const text = (description: string) => t.String({ description })

const Suppressed = t.Object(
  { below: count("Smallest group that is shown. 0 when nothing is hidden."), groups: count("Number of hidden groups.") },
  { description: "Small groups that are hidden. A hidden number is null." },
)
const Meta = t.Object({}, { additionalProperties: true, description: "Facts about the report, such as its time zone and range." })

export const CohortResponse = t.Object(
  {
    id: field.id("Id of the cohort."),
    name: text("Name of the cohort."),
    description: text("Description."),
    kind: t.Union([t.Literal("dynamic"), t.Literal("static")], { description: "`static` is a frozen cohort, whose people don't change." }),
    definition: DefinitionInput,
    restrict: orNull(
      textOf<Restriction>({
        description: "`identified` if only people with a user ID or device ID count. null for everyone who is recognized.",
      }),
    ),
    size: countOrNull("Number of people when the cohort was last computed. null before, and when the group is too small to be shown."),
    pending: countOrNull("People about whom a condition is not decided yet."),
    coverage: rateOrNull("Share of the visits whose visitor is recognized throughout, in percent."),
    broken: t.Boolean({
      description: "Whether the definition refers to something that was deleted. `size` is then the last computed one.",
    }),
    identity_min_days: count("Days for which people must be recognized."),
    computed_at: orNull(field.instant("Time at which the size was computed. null before.")),
    compute_ms: countOrNull("Milliseconds that computing the size took."),
    created_by: orNull(field.integer("Id of the user who created the cohort. null when the user was deleted.")),
    version: field.id("Version of the cohort, which increases with each change."),
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
  },
  { title: "Cohort" },
)
export type CohortResponse = Static<typeof CohortResponse>

export const formatCohort = (cohort: Cohort, { isBroken, hidesSize }: { isBroken: boolean; hidesSize: boolean }): CohortResponse => ({
  id: cohort.id,
  name: cohort.name,
  description: cohort.description,
  kind: cohort.kind,
  definition: cohort.definition,
  restrict: cohort.restrict,
  size: hidesSize ? null : cohort.size,
  pending: hidesSize ? null : cohort.pending,
  coverage: cohort.coverage,
  broken: isBroken,
  identity_min_days: cohort.identity_min_days,
  computed_at: instantOrNull(cohort.computed_at),
  compute_ms: cohort.compute_ms,
  created_by: cohort.created_by,
  version: cohort.version,
  created_at: instantText(cohort.created_at),
  updated_at: instantText(cohort.updated_at),
})

export const EvaluationResponse = t.Object(
  {
    size: countOrNull("Number of people in the set."),
    pending: countOrNull("People about whom a condition is not decided yet. They are neither in the set nor outside."),
    share_of_people: rateOrNull("`size` in percent of `people_total`."),
    people_total: countOrNull("People of the site who are recognized in the same way."),
    identity: PeopleIdentity,
    trend: t.Array(t.Object({ day: text("Day, as YYYY-MM-DD."), size: countOrNull("Size of the set as of this day.") }), {
      description: "Sizes as of the last days, oldest first.",
    }),
    breakdown: t.Array(
      t.Object({
        dimension: text("Dimension of the rows."),
        rows: t.Array(
          t.Object({
            value: orNull(text("Value of each person's last visit. null when it is missing.")),
            people: count("People of the set with this value."),
            share: rate("In percent of the set."),
            share_of_all: rate("People with this value in percent of all people."),
          }),
          { description: "Values, those with the most people first." },
        ),
      }),
      { description: "The set by dimension." },
    ),
    compared: t.Optional(
      t.Object(
        { size: countOrNull("Size of the compared set."), people: countOrNull("People in both sets.") },
        { description: "The compared set. Present only with `compare_to`." },
      ),
    ),
    suppressed: Suppressed,
    computed_at: field.instant("Time of the evaluation."),
    took_ms: count("Duration of the evaluation in milliseconds."),
    meta: Meta,
  },
  { title: "CohortEvaluation" },
)
export type EvaluationResponse = Static<typeof EvaluationResponse>

export const RetentionResponse = t.Object(
  {
    identity: PeopleIdentity,
    rows: t.Array(
      t.Object({
        cohort: text("First day of the cohort's period."),
        value: t.Optional(text("Value of the breakdown. `(other)` stands for all values without a row. Absent without a breakdown.")),
        size: countOrNull("People in the cohort."),
        cells: t.Array(
          t.Object({
            period: count("Number of the period. 0 is the cohort's own."),
            count: countOrNull("People who returned in it."),
            rate: rateOrNull("In percent of the cohort."),
            state: oneOf(
              CELL_STATES,
              "`complete`, `partial` while the period is running, `future`, `unobservable` when not everyone could be recognized, or `suppressed` for a small group.",
            ),
          }),
          { description: "One cell per period." },
        ),
      }),
      { description: "Cohorts, oldest first." },
    ),
    average: t.Array(
      t.Object({
        period: count("Number of the period."),
        rate: rateOrNull("Mean over complete cells, weighted by people, in percent."),
        based_on_people: count("People in these cells."),
      }),
      { description: "Average by period." },
    ),
    week_starts_on: t.Literal("monday", { description: "First day of a week." }),
    suppressed: Suppressed,
    meta: Meta,
  },
  { title: "Retention" },
)
export type RetentionResponse = Static<typeof RetentionResponse>

const Buckets = (description: string) =>
  t.Array(
    t.Object({
      active_days: count("Number of active days."),
      people: countOrNull("People with so many."),
      share: rateOrNull("In percent of the people."),
    }),
    { description },
  )
export const HistogramResponse = t.Object(
  {
    window: count("Days of the window."),
    as_of: text("Last day of the window."),
    people: countOrNull("People who were active in the window."),
    buckets: Buckets("People by number of active days."),
    at_least: t.Array(
      t.Object({
        days: count("Number of active days."),
        people: countOrNull("People with at least so many."),
        share: rateOrNull("In percent of the people."),
      }),
      { description: "People by their least number of active days." },
    ),
    tenths: orNull(t.Array(rate("Share in percent.")), {
      description: "Share of all events of each tenth of the people, the most active first. null when the groups are too small.",
    }),
    previous: t.Object(
      { people: countOrNull("People who were active in the window before."), buckets: Buckets("People by number of active days.") },
      { description: "The window before." },
    ),
    median: rateOrNull("Median of the active days."),
    mean: rateOrNull("Mean of the active days."),
    identity: PeopleIdentity,
    suppressed: Suppressed,
    meta: Meta,
  },
  { title: "ActiveDays" },
)
export type HistogramResponse = Static<typeof HistogramResponse>

export const ENGAGEMENT_METRICS = ["dau", "wau", "mau", "stickiness", "new", "returning", "resurrected", "dormant"] as const
export const EngagementResponse = t.Object(
  {
    points: t.Array(
      t.Object({
        time: text("First day of the point."),
        partial: t.Optional(t.Boolean({ description: "Whether the point is still running. Absent if not." })),
        dau: t.Optional(countOrNull("People active on the last day of the point.")),
        wau: t.Optional(countOrNull("People active in the 7 days that end with the point.")),
        mau: t.Optional(countOrNull("People active in the 28 days that end with the point.")),
        stickiness: t.Optional(rateOrNull("`dau` in percent of `mau`.")),
        new: t.Optional(countOrNull("People seen for the first time.")),
        returning: t.Optional(countOrNull("People who were active in the point before as well.")),
        resurrected: t.Optional(countOrNull("People who were seen earlier, but not in the point before.")),
        dormant: t.Optional(countOrNull("People who were active in the point before, and not in this one.")),
      }),
      { description: "Points, oldest first." },
    ),
    interval: text("Length of the points: `day`, `week` or `month`."),
    identity: PeopleIdentity,
    suppressed: Suppressed,
    meta: Meta,
  },
  { title: "Engagement" },
)
export type EngagementResponse = Static<typeof EngagementResponse>
export type EngagementPointResponse = EngagementResponse["points"][number]

const Money = t.Object(
  {
    currency: text("ISO 4217 code."),
    amount_minor: orNull(field.integer("Amount in minor units. null beyond 2^53.")),
    amount: text("Exact amount, as a decimal number."),
  },
  { description: "An amount." },
)
const PersonFields = {
  person: text("Token of the person on this site."),
  label: text("User ID, if the site stores it, otherwise the first digits of the token."),
  kind: t.Union([t.Literal("rotating"), t.Literal("device"), t.Literal("user")], {
    description: "How the person is recognized: by a rotating ID, a device ID or a user ID.",
  }),
  first_seen: field.instant("Start of the first stored visit."),
  last_seen: field.instant("Start of the latest visit."),
}
export const MemberResponse = t.Object({ ...PersonFields, visits: count("Number of visits.") }, { title: "CohortMember" })
export const LeaderResponse = t.Object(
  {
    ...PersonFields,
    active_days: count("Local days on which a visit started."),
    streak: count("Consecutive active days up to the end of the window."),
    visits: count("Number of visits."),
    events: count("Number of events."),
    pageviews: count("Number of pageviews."),
    revenue: t.Optional(t.Array(Money, { description: "Revenue of events by currency. Absent without the permission `revenue:read`." })),
    top_pages: field.texts("The three pages viewed most."),
  },
  { title: "PowerUser" },
)
export type LeaderResponse = Static<typeof LeaderResponse>
export type MemberResponse = Static<typeof MemberResponse>

const Visit = t.Object(
  {
    started_at: field.instant("Start of the visit."),
    duration: count("Seconds from the first to the last pageview or custom event."),
    pageviews: count("Number of pageviews."),
    entry_page: orNull(text("First page.")),
    source: orNull(text("Source. null for direct visits.")),
    country: orNull(text("Country code.")),
    device: orNull(text("Type of device.")),
    browser: orNull(text("Browser.")),
    os: orNull(text("Operating system.")),
    events: t.Array(
      t.Object({
        at: field.instant("Time of the event."),
        name: text("Name of the event."),
        page: orNull(text("Page of the event.")),
        properties: t.Object({}, { additionalProperties: t.String(), description: "Properties of the event." }),
        revenue: t.Optional(Money),
      }),
      { description: "Events of the visit, oldest first." },
    ),
  },
  { title: "PersonVisit" },
)
export const PersonResponse = t.Object(
  {
    ...LeaderResponse.properties,
    identity: PeopleIdentity,
    recent: t.Object(
      {
        data: t.Array(Visit, { description: "Visits, newest first." }),
        has_more: field.flag("Whether earlier visits follow."),
        next_cursor: orNull(text("Cursor of the next page. null on the last page.")),
      },
      { description: "A page of the person's visits." },
    ),
    meta: Meta,
  },
  { title: "Person" },
)
export type PersonResponse = Static<typeof PersonResponse>

/** What an erasure would remove. */
export const ErasurePreviewResponse = t.Object(
  {
    visitors: t.Array(t.String(), {
      description:
        "Pseudonyms of the person, as in exports. Several if the site has recognized visitors in different ways. Empty if the site does not know the person.",
    }),
    visits: t.Integer({ description: "Number of visits." }),
    events: t.Integer({ description: "Number of pageviews and custom events." }),
    first_seen: t.Optional(field.instant("Start of the first visit. Absent without visits.")),
    last_seen: t.Optional(field.instant("Time of the latest event. Absent without visits.")),
  },
  { title: "PersonErasurePreview" },
)
export type ErasurePreviewResponse = Static<typeof ErasurePreviewResponse>

export const ErasureResponse = t.Object(
  {
    id: field.id("Id of the erasure."),
    state: t.Union([t.Literal("queued"), t.Literal("running"), t.Literal("done"), t.Literal("failed")], {
      description: "State of the work.",
    }),
    found: t.Optional(
      t.Object({}, { additionalProperties: t.Integer(), description: "Number of erased rows by kind. Present when the work is done." }),
    ),
    requested_at: field.instant("Time of the request."),
    finished_at: orNull(field.instant("Time at which the work ended. null before.")),
    note: text("What can't be erased, in English."),
  },
  { title: "PersonErasure" },
)
export type ErasureResponse = Static<typeof ErasureResponse>

const NOTE =
  "Days on which the person was not identified can't be attributed to anyone. A user ID finds no one from before a change of the identity mode, unless the site stores user IDs. Backups keep the data until they are removed, after 35 days at most."

export const formatErasure = ({ id, state, counts, requested_at, finished_at }: Erasure): ErasureResponse => ({
  id,
  state,
  ...(state === "done" && { found: counts }),
  requested_at: instantText(requested_at),
  finished_at: instantOrNull(finished_at),
  note: NOTE,
})
