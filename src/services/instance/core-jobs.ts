import type { Clock } from "../../domain/clock.ts"
import type { Log } from "../../domain/log.ts"
import type { Erasure } from "../erasure/erasure.ts"
import type { Jobs } from "../jobs/jobs.ts"
import type { Outbox } from "../jobs/outbox.ts"
import type { Schedules } from "../jobs/schedules.ts"
import type { Task } from "../runtime/tasks.ts"
import type { Sites } from "../sites/sites.ts"
import type { MaintenanceMode } from "./maintenance.ts"

interface CoreJobsOptions {
  jobs: Jobs
  schedules: Schedules
  outbox: Outbox
  sites: Pick<Sites, "purge">
  erasure: Erasure
  clock: Pick<Clock, "now">
  log: Log
}

/** Defines the scheduled jobs of the core. Work that recurs every few seconds is upkeep instead. */
export function defineCoreJobs({ jobs, schedules, outbox, sites, erasure, clock, log }: CoreJobsOptions): void {
  jobs.define("core.purge-sites", {
    interrupted: "resume",
    attempts: 3,
    run: async () => {
      const purged = await sites.purge(clock.now(), (siteId) => erasure.site(siteId))
      for (const site_id of purged) log.info("a deleted site was purged", { site_id })
    },
  })
  schedules.declare("core.purge-sites", { cron: "20 2 * * *" })

  jobs.define("core.forget-old", {
    interrupted: "resume",
    attempts: 3,
    run: async () => {
      await jobs.forgetOld()
      await outbox.forgetOld()
    },
  })
  schedules.declare("core.forget-old", { cron: "40 2 * * *" })
}

/** Returns the tasks that start due jobs and deliver product events. */
export const jobTasks = ({
  schedules,
  jobs,
  outbox,
  maintenance,
}: Pick<CoreJobsOptions, "schedules" | "jobs" | "outbox"> & { maintenance: Pick<MaintenanceMode, "current"> }): Task[] => [
  {
    name: "jobs",
    every: 1,
    run: async () => {
      // No jobs start during maintenance. Those that become due run afterwards.
      if (maintenance.current().enabled) return
      await schedules.tick()
      await jobs.tick()
    },
  },
  // Each commit triggers delivery. This retries failed deliveries, and serves areas that were enabled meanwhile.
  { name: "product-events", every: 5, run: () => outbox.deliver() },
]
