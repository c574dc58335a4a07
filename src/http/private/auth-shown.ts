import { type Static, Type as t } from "@sinclair/typebox"
import { API } from "../../domain/limits.ts"
import type { User } from "../../domain/user.ts"
import { readOptionalJson } from "../../web/body.ts"

/** Whoever has just come in, for the pages before the dashboard. All about rights is in `GET /me`. */
export const UserResponse = t.Object({
  id: t.Integer(),
  email: t.String(),
  email_verified: t.Boolean(),
  name: t.String(),
  is_instance_admin: t.Boolean(),
})

export const toUserResponse = ({ id, email, email_verified_at, name, is_instance_admin }: User): Static<typeof UserResponse> => ({
  id,
  email,
  email_verified: email_verified_at !== null,
  name,
  is_instance_admin,
})

/** Of routes whose path says it all. */
export const MaybeBody = readOptionalJson(API.privateBodyBytes)

export const SignedInResponse = t.Object({ user: UserResponse })
