import { GoalInput } from "../../domain/goal.ts"
import type { Goals } from "../../services/goals.ts"
import type { ApiKeyAuth } from "../auth.ts"
import type { creation } from "./creation.ts"
import { GoalShown, shownGoal } from "./shown.ts"
import { thingRoutes } from "./things.ts"

/** The goals of a site. They are evaluated over stored events: a new one applies to the past. */
export const goalRoutes = (auth: ApiKeyAuth, create: ReturnType<typeof creation>, goals: Goals) =>
  thingRoutes(auth, create, {
    path: "goals",
    noun: "goal",
    read: ["goals:read", "stats:read"],
    write: ["goals:write"],
    things: goals,
    input: GoalInput,
    taken: "goal_exists",
    shown: GoalShown,
    show: shownGoal,
  })
