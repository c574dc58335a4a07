import { type Static, Type as t } from "@sinclair/typebox"
import { textOf } from "./response.ts"
import type { Site, SiteSettings } from "./site.ts"
import type { IdentityMode } from "./visit.ts"

/** For how many days at most a visitor without a user id or device id is recognized: the longest day, week or month of a salt. */
export const ROTATING_DAYS: Readonly<Record<IdentityMode, number>> = { daily: 1, weekly: 7, monthly: 31, identified: 1, persistent: 1 }

/** Returns the identity mode of a site at a time. */
export const modeAt = ({ settings, identity_history }: Pick<Site, "settings" | "identity_history">, at: number): IdentityMode =>
  (identity_history.findLast(({ from }) => from <= at) ?? identity_history[0] ?? settings).identity_mode

/** Returns whether visitors can have a long key, which is a user id or device id, in a mode. */
export const hasLongKeys = (mode: IdentityMode): boolean => mode === "identified" || mode === "persistent"

/** Returns for how many days a site recognizes the people that it knows best. Null means as long as data is kept. */
export function horizonDays({ identity_mode, persistent_days }: Pick<SiteSettings, "identity_mode" | "persistent_days">): number | null {
  if (identity_mode === "identified") return null
  return identity_mode === "persistent" ? persistent_days : ROTATING_DAYS[identity_mode]
}

/** Schema of how people are recognized in an answer (areas/04 section 1). */
export const PeopleIdentity = t.Object(
  {
    mode: textOf<IdentityMode>({ description: "Identity mode of the site." }),
    horizon_days: t.Union([t.Integer(), t.Null()], {
      description: "Days for which people are recognized. `null` means as long as data is kept.",
    }),
    coverage: t.Number({ description: "Percentage of the visits in the range whose visitor is recognized throughout the report." }),
    restricted: t.Boolean({ description: "Whether only people with a user id or device id are counted." }),
    boundary_days: t.Array(t.String(), {
      description: "Days in the range on which visitors without such an id become new visitors, because a week or month begins.",
    }),
  },
  { title: "PeopleIdentity", description: "How people are recognized." },
)
export type PeopleIdentity = Static<typeof PeopleIdentity>
