import type { User } from "../../domain/user.ts"
import type { Statements } from "../../store/catalog/catalog.ts"
import type { PostedMail } from "../mail.ts"
import type { Letter } from "../mail-port.ts"
import { resetLetter } from "../mail-texts.ts"
import type { OneTimeTokens } from "../one-time-tokens.ts"
import { resetLink } from "../password-reset.ts"
import { welcomeLetter } from "./user-letters.ts"

/** Links to choose a password. Each is posted; without a mail server, or when no mail is wanted, it comes back. */
interface UserLinks {
  welcome(statements: Statements, user: User, isMailed: boolean): Promise<string | undefined>
  reset(statements: Statements, user: User): Promise<string | undefined>
}

export interface UserLinksOptions {
  tokens: Pick<OneTimeTokens, "issue">
  mail: Pick<PostedMail, "isOn" | "post">
  /** Under which people reach the instance. */
  publicUrl(): string
}

const HOUR_MS = 3_600_000
const RESET_MS = HOUR_MS
/** Whoever was just made may be away for a while. */
const WELCOME_MS = 7 * 24 * HOUR_MS

interface Terms {
  lifeMs: number
  letter: (to: string, link: string) => Letter
  isMailed: boolean
}

export function userLinks({ tokens, mail, publicUrl }: UserLinksOptions): UserLinks {
  async function linkFor(statements: Statements, { id, email }: User, { lifeMs, letter, isMailed }: Terms): Promise<string | undefined> {
    const token = await tokens.issue(statements, { purpose: "reset", userId: id, payload: {}, lifeMs })
    const link = resetLink(publicUrl(), token)
    if (!isMailed || !mail.isOn()) return link
    await mail.post(statements, letter(email, link))
    return undefined
  }
  return {
    welcome: (statements, user, isMailed) => linkFor(statements, user, { lifeMs: WELCOME_MS, letter: welcomeLetter, isMailed }),
    reset: (statements, user) => linkFor(statements, user, { lifeMs: RESET_MS, letter: resetLetter, isMailed: true }),
  }
}
