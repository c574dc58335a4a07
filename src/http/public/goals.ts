import { GoalInput } from "../../domain/goal.ts"
import type { Goals } from "../../services/definitions/goals.ts"
import type { ApiKeyAuth } from "../auth.ts"
import type { creation } from "./creation.ts"
import { GoalResponse, toGoalResponse } from "./shown.ts"
import { thingRoutes } from "./things.ts"

/** Creates the routes for goals. Goals are evaluated over stored events, so a new goal applies to past data, too. */
export const goalRoutes = (auth: ApiKeyAuth, create: ReturnType<typeof creation>, goals: Goals) =>
  thingRoutes(auth, create, {
    path: "goals",
    noun: "goal",
    read: ["goals:read", "stats:read"],
    write: ["goals:write"],
    things: goals,
    input: GoalInput,
    taken: "goal_exists",
    shown: GoalResponse,
    show: toGoalResponse,
  })
