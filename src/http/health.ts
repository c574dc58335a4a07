import { Elysia } from "elysia"
import type { Health } from "../services/runtime/health.ts"

/** Creates the health routes for restart probes and load balancers. They need no key and reveal neither sites nor the version. */
export const healthRoutes = (health: Health) =>
  new Elysia()
    .get("/health/live", () => ({ status: "ok" }), { detail: { hide: true } })
    .get(
      "/health",
      ({ set }) => {
        const { status, reasons } = health.report()
        if (status === "ok") return { status }
        set.status = 503
        return { status, reasons }
      },
      { detail: { hide: true } },
    )
