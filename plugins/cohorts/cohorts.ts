/**
 * Cohorts, retention, power users and engagement: who came back, and what cannot be known. People are recognized as the identity mode of
 * the site allows; a report over a longer time says so instead of showing a number.
 */
import { definePlugin, type Site } from "#plugin"
import { createActivity } from "./activity.ts"
import { type Area, settings, showCohort, visitorSets } from "./area.ts"
import { sightOf } from "./caller.ts"
import type { Cohort, CohortsHost } from "./cohort.ts"
import { createCohortWrites } from "./cohort-writes.ts"
import { fillDemo } from "./demo.ts"
import { createErasures } from "./erasures.ts"
import { ERRORS } from "./errors.ts"
import { createEvaluation } from "./evaluation.ts"
import { createFrozen } from "./frozen.ts"
import createCohorts from "./migrations/0001_cohorts.sql" with { type: "text" }
import { renameMembers } from "./moving.ts"
import { createPeople } from "./people.ts"
import { publicRoutes } from "./public-routes.ts"
import { createReports } from "./report.ts"
import { windowsOf } from "./resolve.ts"
import { createRetention } from "./retention.ts"
import { cohortRoutes } from "./routes.ts"
import createMembers from "./row-migrations/0001_members.sql" with { type: "text" }
import { cohortTrash, namedCohorts } from "./rows.ts"
import { exportedCohorts, jobsOf, removeSite, repackNow, repackSoon } from "./upkeep.ts"
import { widgetsOf } from "./widgets.ts"

export default definePlugin({
  id: "cohorts",
  title: "Cohorts and retention",
  paths: { site: ["cohorts", "retention", "power-users", "engagement", "people"], public: ["people", "cohorts", "retention"] },
  pages: [
    "/sites/:site/retention",
    "/sites/:site/cohorts",
    "/sites/:site/cohorts/:cohort",
    "/sites/:site/power-users",
    "/sites/:site/power-users/:person",
  ],
  permissions: { "cohorts:read": "viewer", "cohorts:write": "editor", "people:erase": "admin" },
  migrations: [{ name: "0001_cohorts", sql: createCohorts }],
  rowMigrations: [{ name: "0001_members", sql: createMembers }],
  moveRows: renameMembers,
  errors: ERRORS,
  setup(host: CohortsHost) {
    const area = areaOf(host)
    return {
      routes: [cohortRoutes(area)],
      publicRoutes: (router) => publicRoutes(area, router),
      jobs: jobsOf(area),
      widgets: widgetsOf(area),
      visitorSets: visitorSets(area),
      named: { cohort: namedCohorts(host) },
      exporters: { cohorts: (site) => exportedCohorts(area, site) },
      fillDemo: (demo) => fillDemo(area, demo),
      onSiteDelete: (siteId) => removeSite(area, siteId),
      onRetention: (siteId) => repackSoon(area, siteId),
      onPersonErase: (siteId) => repackNow(area, siteId),
      onVisitsErase: (siteId) => repackSoon(area, siteId),
    }
  },
})

const DAY_MS = 86_400_000

function areaOf(host: CohortsHost): Area {
  const trash = cohortTrash(host)
  const settingOf = settings(host)
  const find = (site: Site, id: number): Promise<Cohort> => trash.find(host.db, site, id)
  const evaluation = createEvaluation(host, { settingOf, find })
  const reports = createReports(host, { settingOf, find, evaluation })
  const writes = createCohortWrites(host, {
    trash,
    settingOf,
    neededDays({ definition }, setting) {
      const windows = windowsOf(definition, setting)
      const [from, to] = [Math.min(...windows.map((window) => window.from)), Math.max(...windows.map((window) => window.to))]
      return Math.max(1, Math.round((to - from) / DAY_MS))
    },
    show: async (cohort, site) => showCohort(cohort, sightOf(site, new Set()), await settingOf(site)),
  })
  return {
    ...{ host, trash, writes, evaluation, settingOf },
    frozen: createFrozen(host, evaluation),
    activity: createActivity(host, reports),
    people: createPeople(host, { reports, evaluation }),
    erasures: createErasures(host),
    retention: createRetention(host, reports),
  }
}
