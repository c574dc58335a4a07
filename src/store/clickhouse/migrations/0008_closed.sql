-- `closed` is 1 for a visit that no event can join any more, however recently its last one arrived, as at the end of a back-fill's request.
-- In rows of before it is 0.
alter table visits add column if not exists closed UInt8 codec(ZSTD(1)) after arrival
