import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { GoalInput } from "../../../domain/goal.ts"
import type { Goals } from "../../../services/definitions/goals.ts"
import type { GoalTrials } from "../../../services/stats/goal-trials.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { GoalResponse, toGoalResponse } from "../../public/shown.ts"
import { NoQuery, Sent, takes } from "../../public/things.ts"
import { privateThingRoutes, type ThingRoutesOptions } from "./things.ts"

export interface GoalRoutesOptions extends ThingRoutesOptions {
  goals: Goals
  goalTrials: GoalTrials
}

const GoalTrial = t.Object(
  {
    conversions_7d: t.Integer(),
    visitors_7d: t.Integer(),
    last_match_at: t.Union([t.String({ format: "date-time" }), t.Null()]),
  },
  { title: "GoalTrial" },
)
const GoalSuggestions = t.Object(
  {
    data: t.Array(
      t.Object({
        kind: t.Literal("event"),
        match: t.Literal("exact"),
        value: t.String(),
        name: t.String(),
        events_30d: t.Integer(),
        visitors_30d: t.Integer(),
      }),
    ),
  },
  { title: "GoalSuggestions" },
)

/** The goals of a site, what one would have counted, and which ones the events seen so far suggest. */
export const privateGoalRoutes = (router: PrivateRouter, options: GoalRoutesOptions) => [
  goalTrialRoutes(router, options),
  privateThingRoutes(router, options, {
    path: "goals",
    noun: "goal",
    write: "goals:write",
    things: () => options.goals,
    input: GoalInput,
    shown: GoalResponse,
    show: toGoalResponse,
    label: ({ name }) => name,
  }),
]

const goalTrialRoutes = (router: PrivateRouter, { goalTrials }: GoalRoutesOptions) =>
  new Elysia({ prefix: "/api/private/sites/:site/goals" })
    .use(router)
    .post("/test", ({ site, body, request }) => goalTrials.test(site, body.value, request.signal), {
      can: { permission: "site:read", reads: true },
      query: NoQuery,
      body: Sent,
      response: { 200: GoalTrial },
      detail: { summary: "Preview the conversions of a goal", tags: ["goals"], ...takes(GoalInput) },
    })
    .get("/suggestions", ({ site, request }) => goalTrials.suggestions(site, request.signal), {
      can: "site:read",
      query: NoQuery,
      response: { 200: GoalSuggestions },
      detail: { summary: "List goals suggested by recent events", tags: ["goals"] },
    })
