import type { ComponentChildren } from "preact"
import type { ButtonHTMLAttributes } from "preact/compat"
import { Link } from "wouter"
import { Icon, type IconName } from "./icon.tsx"

/** `primary`: at most one in a view · `danger`: opens a question · `confirm`: answers it · `quiet`: without a frame. */
type Kind = "plain" | "primary" | "danger" | "confirm" | "quiet"

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "icon"> {
  kind?: Kind
  icon?: IconName
  /** While what it does is under way it cannot be pressed again, and says so. */
  busy?: boolean
  children: ComponentChildren
}

export const Button = ({ kind = "plain", icon, busy = false, disabled, children, type = "button", ...others }: ButtonProps) => (
  <button class="button" data-kind={kind} type={type} disabled={disabled || busy} aria-busy={busy} {...others}>
    {icon && <Icon name={icon} />}
    {children}
  </button>
)

interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "icon" | "label"> {
  icon: IconName
  /** What it does; shown as its title. */
  label: string
}

export const IconButton = ({ icon, label, type = "button", ...others }: IconButtonProps) => (
  <button class="button" data-kind="quiet" data-icon type={type} aria-label={label} title={label} {...others}>
    <Icon name={icon} />
  </button>
)

export const ButtonLink = ({
  href,
  kind = "plain",
  icon,
  children,
}: {
  href: string
  kind?: Kind
  icon?: IconName
  children: ComponentChildren
}) => (
  <Link href={href} class="button" data-kind={kind}>
    {icon && <Icon name={icon} />}
    {children}
  </Link>
)
