import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { THINGS } from "../../domain/limits.ts"
import { isObject } from "../../domain/shape.ts"
import type { ShareState, ShareTerms } from "../../domain/share.ts"
import { normalizePassword } from "../../domain/sign-in.ts"
import { refuseUntil, rememberedTimes } from "../sign-in/limits.ts"
import type { Hashes } from "../sign-in/passwords.ts"
import { tokenHash } from "../sign-in/sessions.ts"
import type { OpenedShare, ShareList } from "./share-list.ts"
import type { UnlockCookies } from "./unlock-cookies.ts"

/** Pages of one kind of share, which strangers open by a slug. */
export interface SharePages {
  /** Paths in the dashboard, whose third segment is the slug: `/share/s/:slug`. */
  paths: readonly string[]
  opening: Pick<ShareOpening<unknown, unknown>, "embedOrigins">
}

/** A share that a viewer has found, and whether they still have to enter its password. */
export interface FoundShare<Owner, Share> extends Omit<OpenedShare<Owner, Share>, "passwordHash"> {
  isLocked: boolean
}

/**
 * Opens shares of one kind for their viewers. A share that is unknown, removed, expired, forbidden or switched off, or whose content is
 * deleted, gives the same `not_found` after the same time.
 */
export interface ShareOpening<Owner, Share> {
  find(slug: string, request: Request): Promise<FoundShare<Owner, Share>>
  /** Returns the origins whose pages may embed a share, and counts a view of its page. Undefined after the same time if there is none. */
  embedOrigins(slug: string, isView: boolean): Promise<readonly string[] | undefined>
  /**
   * Checks a password and returns the header of the cookie that unlocks the share. Throws `rate_limited`, `invalid_credentials`, and
   * `not_found` after the time of a wrong password.
   */
  unlock(slug: string, body: unknown, network: string): Promise<string>
}

interface ShareOpeningOptions<Owner, Share> {
  shares: Pick<ShareList<Owner, never, Share>, "open">
  cookies: UnlockCookies
  passwords: Pick<Hashes, "verify">
  clock: Pick<Clock, "now">
  /** Called when a page of a share is loaded. */
  onView?(share: Share): void
  /** Returns whether the shares are switched on. Default: they always are. */
  isOn?(): boolean
}

const MINUTE_MS = 60_000
/** Time until `not_found`. Longer than any lookup takes, so that it says nothing about the reason. */
const NOT_FOUND_MS = 25

export function createShareOpening<Owner, Share extends ShareTerms & ShareState>({
  shares,
  cookies,
  passwords,
  clock,
  onView,
  isOn = () => true,
}: ShareOpeningOptions<Owner, Share>): ShareOpening<Owner, Share> {
  const unlocks = rememberedTimes(clock.now, MINUTE_MS)
  const wrong = rememberedTimes(clock.now, MINUTE_MS)

  const open = async (slug: string) => (isOn() ? shares.open(slug) : undefined)
  /** Returns a share, or undefined after a fixed time. */
  async function openInTime(slug: string) {
    const due = Bun.sleep(NOT_FOUND_MS)
    const opened = await open(slug)
    if (!opened) await due
    return opened
  }
  async function isPassword(body: unknown, hash: string | null | undefined): Promise<boolean> {
    const typed = isObject(body) && typeof body.password === "string" ? body.password.slice(0, 1_000) : ""
    // Also computed without a hash: a dummy is verified then.
    return (await passwords.verify(normalizePassword(typed), hash)).isRight
  }

  return {
    async find(slug, request) {
      const opened = await openInTime(slug)
      if (!opened) throw nothingHere()
      const { share, owner } = opened
      return { share, owner, isLocked: share.has_password && !cookies.isUnlocked(request, share) }
    },
    async embedOrigins(slug, isView) {
      const opened = await openInTime(slug)
      if (opened && isView) onView?.(opened.share)
      return opened?.share.embed_origins
    },
    async unlock(slug, body, network) {
      refuseUntil(unlocks.freeAt(network, THINGS.shareUnlocks), clock.now())
      unlocks.note(network)
      // Unknown slugs are counted as well, because a limit would show which ones exist.
      const name = `${network} ${tokenHash(slug).toHex()}`
      refuseUntil(wrong.freeAt(name, THINGS.shareTries), clock.now())
      // Counted as wrong until it is checked, so that concurrent attempts cannot exceed the limit.
      const attempt = wrong.note(name)
      const opened = await open(slug)
      const isRight = await isPassword(body, opened?.passwordHash).catch((error) => {
        // An attempt that could not be checked does not count.
        wrong.forget(name, attempt)
        throw error
      })
      if (!opened) throw nothingHere()
      if (!isRight) throw new AppError("invalid_credentials", "The password is incorrect.")
      wrong.forget(name, attempt)
      return cookies.header(opened.share)
    },
  }
}

export const nothingHere = () => new AppError("not_found", "This address does not exist.")
