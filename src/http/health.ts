import { Elysia } from "elysia"
import type { Health } from "../services/health.ts"

/** For restart probes and for load balancers. Neither asks for a key, names a site or tells a version. */
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
