import type { Connection } from "../../domain/connection.ts"
import type { Invitation } from "../../domain/invitation.ts"
import { ORGANIZATION } from "../../domain/limits.ts"
import type { Organization } from "../../domain/organization.ts"
import type { EmailMessage } from "./mail.ts"

/**
 * The emails that Footfall sends about accounts and invitations. They are plain text with one paragraph per block. A link stands on a
 * line of its own, because `mail.ts` makes such lines clickable in the HTML version.
 */
const message = (to: string, subject: string, ...blocks: readonly string[]): EmailMessage => ({ to, subject, text: blocks.join("\n\n") })

const UNEXPECTED =
  "If this wasn't you, someone else knows your password. Change it now and contact the administrator of this Footfall instance."
const IGNORE = "If you didn't request this, you can ignore this email. Nothing will change."

/** Returns the email with the link to choose a new password. */
export const passwordResetEmail = (to: string, link: string): EmailMessage =>
  message(
    to,
    "Reset your password",
    `Someone, probably you, requested a new password for your Footfall account. Open this link within one hour to choose one:\n${link}`,
    IGNORE,
  )

/** Returns the email that asks a user to confirm the new address of their account. */
export const confirmAddressEmail = (to: string, link: string): EmailMessage =>
  message(
    to,
    "Confirm your email address",
    `Open this link within 24 hours, in a browser where you are signed in, to use this address for your Footfall account:\n${link}`,
    IGNORE,
  )

/** Returns the email to an address that another account uses already. The requester's screen does not reveal this. */
export const addressTakenEmail = (to: string): EmailMessage =>
  message(
    to,
    "This email address already has an account",
    "Someone, probably you, tried to use this address for another Footfall account. It already belongs to an account, so nothing was changed.",
    "If you've forgotten the password of that account, you can reset it on the sign-in page.",
  )

/** Returns the email that warns the old address about a change and offers to undo it. */
export const addressChangeEmail = (to: string, newAddress: string, link: string): EmailMessage =>
  message(
    to,
    "Your email address is about to change",
    `Someone, probably you, wants to change the email address of your Footfall account to ${newAddress}. The change takes effect when that address is confirmed.`,
    `If this wasn't you, open this link within 72 hours. It cancels or reverts the change and signs out every session of your account:\n${link}`,
  )

export const passwordChangedEmail = (to: string): EmailMessage =>
  message(
    to,
    "Your password was changed",
    "The password of your Footfall account was changed. All other sessions have been signed out.",
    UNEXPECTED,
  )

/** Returns the email to a user for whose account too many wrong codes were entered. */
export const codesPausedEmail = (to: string): EmailMessage =>
  message(
    to,
    "Someone is guessing your sign-in codes",
    "20 wrong codes were entered for your account within 15 minutes. Codes from your authenticator app and recovery codes are not accepted for up to 15 minutes. Passkeys still work.",
    "If this wasn't you, someone else knows your password or uses one of your sessions. Change your password now, which signs out all other sessions, and contact the administrator of this Footfall instance.",
  )

export const recoveryCodeUsedEmail = (to: string, codesLeft: number): EmailMessage =>
  message(
    to,
    "A recovery code was used",
    `Someone, probably you, signed in to your Footfall account with a recovery code. You have ${codesLeft} recovery ${codesLeft === 1 ? "code" : "codes"} left.`,
    UNEXPECTED,
  )

/** Returns the email to a user whom an instance admin has created. */
export const welcomeEmail = (to: string, link: string): EmailMessage =>
  message(
    to,
    "Your Footfall account",
    `An administrator created a Footfall account for you. Open this link within 7 days to choose a password:\n${link}`,
  )

/** Returns the email to a user whose second factors an instance admin has removed. */
export const factorsResetEmail = (to: string): EmailMessage =>
  message(
    to,
    "Two-factor authentication was reset",
    "An administrator removed the authenticator app, all passkeys and all recovery codes from your Footfall account. You've been signed out everywhere.",
    "If you didn't ask for this, contact the administrator of this Footfall instance.",
  )

/** Returns the email to a user whom an instance admin impersonates. */
export const impersonationEmail = (
  to: string,
  { by, mode, reason, until }: { by: string; mode: "read_only" | "full"; reason: string; until: string },
): EmailMessage =>
  message(
    to,
    "An administrator is using your account",
    `Until ${until}, ${by}, an administrator of this Footfall instance, can see what you see${mode === "full" ? " and make changes in your name" : ", but can't change anything"}.`,
    `Reason given: ${reason}`,
  )

/** Returns the invitation to an organization. */
export const invitationEmail = ({ name }: Pick<Organization, "name">, { email, role }: Invitation, link: string): EmailMessage =>
  message(
    email,
    `Join ${name} on Footfall`,
    `You've been invited to join ${name} on Footfall as ${/^[aeiou]/.test(role) ? "an" : "a"} ${role}.`,
    `Open this link within ${ORGANIZATION.invitationDays} days to accept:\n${link}`,
    "If you didn't expect this invitation, you can ignore this email.",
  )

/** Returns the email to an admin of an organization about a connection that no longer works. */
export const connectionEmail = (to: string, { provider, account_label, status }: Connection, link: string): EmailMessage => {
  const name = provider[0]!.toUpperCase() + provider.slice(1) // no provider has an empty name
  return message(
    to,
    status === "needs_reauth" ? `Connect the ${name} account again` : `The ${name} account can't be used`,
    status === "needs_reauth"
      ? `Footfall no longer has access to the ${name} account ${account_label}: the access was revoked or has expired. Data that was fetched before stays available.`
      : `${name} rejects the requests of this Footfall instance for the account ${account_label}. An administrator of the instance must check its client ID and secret.`,
    `Connect the account again on the Integrations page of a site:\n${link}`,
  )
}
