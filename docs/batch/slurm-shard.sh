#!/bin/sh
# One task of a simulation as a Slurm array. Number the array from 0:
#   reviewer policy simulate manifest /shared/logs/2026/q3 -o manifest.json
#   N=7 sbatch --array=0-6 slurm-shard.sh
# Resubmit a failed task by its number: N=7 sbatch --array=3 slurm-shard.sh
#SBATCH --job-name=simulate
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=512M
#SBATCH --output=simulate-%A_%a.log
set -u
: "${N:?set N to the number of tasks of the whole array}"
part=parts/$SLURM_ARRAY_TASK_ID.json
mkdir -p parts
exec "${REVIEWER:-reviewer}" policy simulate --manifest "${MANIFEST:-manifest.json}" --candidate "${CANDIDATE:-policy}" \
  --shard "auto/$N" -p 1 -f json -o "$part"
