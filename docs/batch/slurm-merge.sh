#!/bin/sh
# Merges the parts of slurm-shard.sh:
#   sbatch --dependency=afterok:JOB slurm-merge.sh
#SBATCH --job-name=simulate-merge
#SBATCH --ntasks=1
#SBATCH --mem=512M
#SBATCH --output=simulate-merge-%j.log
exec "${REVIEWER:-reviewer}" policy simulate merge parts/*.json -f json -o report.json
