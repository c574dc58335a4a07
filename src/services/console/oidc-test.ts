import { Type as t } from "@sinclair/typebox"
import { AppError } from "../../domain/error.ts"
import { parsed } from "../../domain/sign-in-input.ts"
import { lookAtProvider, type OidcTest } from "../oidc-look.ts"
import type { OidcProviders } from "../oidc-providers.ts"
import type { Outbound } from "../outbound.ts"

export type { OidcTest }

const OidcTestInput = t.Object(
  { provider: t.String({ minLength: 1, maxLength: 100 }) },
  { additionalProperties: false, title: "OidcTestInput" },
)

/** Looks at a provider that people can sign in by. Throws `validation_failed`, `provider_not_found`. */
export async function testProvider(
  { providers, outbound }: { providers: Pick<OidcProviders, "get">; outbound: Pick<Outbound, "fetch"> },
  body: unknown,
): Promise<OidcTest> {
  const provider = await providers.get(parsed(OidcTestInput, body).provider)
  if (!provider) throw new AppError("provider_not_found", "There is no identity provider of this name.")
  return lookAtProvider(outbound, provider)
}
