import type { AnyElysia } from "elysia"
import { privateRouter } from "../../plugin/router.ts"
import { type AuthorizeOptions, createAuthorize } from "./authorize.ts"
import { type MeOptions, meRoutes } from "./me.ts"

export interface PrivateOptions extends AuthorizeOptions, MeOptions {}

/** Everything below `/api/private` that the core answers: for people who are signed in, by session alone. */
export function privateRoutes(options: PrivateOptions): AnyElysia[] {
  const router = privateRouter(createAuthorize(options))
  return [meRoutes(router, options)]
}
