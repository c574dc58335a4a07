import type { Random, Secrets } from "./secrets.ts"
import { tokenHash } from "./sessions.ts"
import { newSlug } from "./slugs.ts"

const SLUG_CHARS = 22
const BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** One place for all of them: an address that is moved to another row still leads where its hash leads. */
export const SLUG_PLACE = { table: "shares", row: "slug", purpose: "slug" }

/** Addresses of shared views: whoever has one sees the view, so they are kept as hashes, and sealed for their owners. */
interface ShareSlugs {
  /** A new one, as it is stored. */
  make(): { slugHash: Uint8Array; slugSealed: Uint8Array }
  /** Undefined without the key that has sealed it. */
  opened(sealed: Uint8Array): string | undefined
}

export function shareSlugs({ random, secrets }: { random: Random; secrets: Secrets }): ShareSlugs {
  return {
    make() {
      const slug = newSlug(random, SLUG_CHARS, BASE_62)
      return { slugHash: slugHashOf(slug), slugSealed: secrets.seal(new TextEncoder().encode(slug), SLUG_PLACE) }
    },
    opened(sealed) {
      const plain = secrets.open(sealed, SLUG_PLACE)
      return plain && new TextDecoder().decode(plain)
    },
  }
}

export const slugHashOf = (slug: string): Uint8Array => tokenHash(slug)
