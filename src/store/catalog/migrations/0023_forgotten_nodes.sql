-- When an operator has declared that the node will not return. Its number stays taken, but nothing waits for it any more.
alter table nodes add column forgotten_at integer;
